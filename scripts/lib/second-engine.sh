# shellcheck shell=bash
# Sourced. Starts and ends an engine beside the one that the machine has.

SECOND_ENGINES=/var/lib/belljar-engines

second_engine_named() {
  ENGINE_ROOM=$SECOND_ENGINES/$1
  ENGINE_HOST=unix://$ENGINE_ROOM/docker.sock
  ENGINE_CGROUP=belljar-engine-$1
}

start_second_engine() {
  case "$1" in
    installed) ;;
    20.10) use_engine_20_10 ;;
    newest) use_newest_engine ;;
    *) fail "only 20.10 and newest can be had beside the installed engine, not '$1'" ;;
  esac
  mkdir -p "$ENGINE_ROOM"
  if [ -n "${BELLJAR_ENGINE_DISK:-}" ]; then mount_small_disk "$BELLJAR_ENGINE_DISK"; fi
  if [ -z "$(second_engine_processes dockerd)" ]; then launch_second_engine; fi
  await_second_engine
  load_base_image
  printf '%s\n' "$ENGINE_HOST"
}

mount_small_disk() {
  local data=$ENGINE_ROOM/data
  mkdir -p "$data"
  awk -v data="$data" '$2 == data { found = 1 } END { exit !found }' /proc/mounts || mount -t tmpfs -o "size=$1" tmpfs "$data"
}

use_engine_20_10() {
  local room=$SECOND_ENGINES/.20.10
  if [ ! -d "$room" ]; then
    mkdir -p "$room.unpacked"
    unpack_packages "$room.unpacked" 'docker.io=20.10*' 'containerd=1.6*' runc tini libdevmapper1.02.1
    mv "$room.unpacked" "$room"
  fi
  PATH=$room/usr/sbin:$room/usr/bin:$PATH
  LD_LIBRARY_PATH=$(dirname "$(find "$room" -name 'libdevmapper.so.1.02.1')")
  export PATH LD_LIBRARY_PATH
}

# Of the newest suite; runc is the system's own.
use_newest_engine() {
  local room=$SECOND_ENGINES/.newest
  [ -d "$room" ] || unpack_from_newer_suites "$room" docker.io/sid containerd/sid >&2
  PATH=$room/usr/sbin:$room/usr/bin:$PATH
  export PATH
}

launch_second_engine() {
  end_processes TERM containerd
  rm -f "$ENGINE_ROOM"/docker.{pid,sock} "$ENGINE_ROOM"/exec/containerd/containerd.{pid,sock,sock.ttrpc}
  local empty='{}'
  printf '%s' "${BELLJAR_ENGINE_CONFIG:-$empty}" >"$ENGINE_ROOM/daemon.json"
  setsid unshare --net bash -c 'ip link set lo up; exec dockerd "$@"' dockerd \
    --host "$ENGINE_HOST" --pidfile "$ENGINE_ROOM/docker.pid" \
    --data-root "$ENGINE_ROOM/data" --exec-root "$ENGINE_ROOM/exec" --config-file "$ENGINE_ROOM/daemon.json" \
    --cgroup-parent "$ENGINE_CGROUP" >>"$ENGINE_ROOM/log" 2>&1 </dev/null &
  ENGINE_PROCESS=$!
}

await_second_engine() {
  local deadline=$((SECONDS + 60))
  until docker --host "$ENGINE_HOST" version >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ] || ! kill -0 "${ENGINE_PROCESS:-$$}" 2>/dev/null; then
      tail -n 15 "$ENGINE_ROOM/log" >&2
      fail 'the second engine did not start; the end of its log is above'
    fi
    sleep 0.3
  done
}

# Only the small one: the others are loaded by the tests that need them.
load_base_image() {
  local image=busybox:latest
  ! docker --host "$ENGINE_HOST" image inspect "$image" >/dev/null 2>&1 || return 0
  docker image save "$image" | docker --host "$ENGINE_HOST" image load >/dev/null
}

stop_second_engine() {
  end_processes TERM dockerd
  end_processes TERM containerd
  end_processes TERM containerd-shim-runc-v2
  find /sys/fs/cgroup -path "*/$ENGINE_CGROUP/*" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u | xargs -r kill -KILL
  awk -v room="$ENGINE_ROOM/" 'index($2, room) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount --lazy
  find /sys/fs/cgroup -depth -type d -path "*/$ENGINE_CGROUP*" -exec rmdir {} + 2>/dev/null || true
  rm -rf "$ENGINE_ROOM"
}

end_processes() {
  local process
  for process in $(second_engine_processes "$2"); do
    if [ "$1" = KILL ]; then kill -KILL "$process"; else end_process "$process"; fi
  done
}

# All that belongs to this engine has its folder for transient state on the command line.
second_engine_processes() {
  local folder
  for folder in /proc/[0-9]*; do
    if is_program "$folder/exe" "$1" && grep -qF "$ENGINE_ROOM/exec" "$folder/cmdline"; then
      printf '%s\n' "${folder##*/}"
    fi
  done
}
