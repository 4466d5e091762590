# shellcheck shell=bash
# Sourced. Starts an installed engine so that it outlives the script.

ENGINE_LOG=/var/log/belljar-dockerd.log

start_engine() {
  say "starting the Docker engine (log: $ENGINE_LOG)"
  if [ -d /run/systemd/system ]; then
    quietly systemctl start docker || fail 'systemctl could not start docker'
    return
  fi
  if ! process_runs dockerd; then
    remove_stale_engine_files
    # The lock of the set-up (9) must not stay held by the engine.
    setsid dockerd >>"$ENGINE_LOG" 2>&1 </dev/null 9>&- &
  fi
  wait_for_engine
}

wait_for_engine() {
  local deadline=$((SECONDS + 60))
  while find_engine && [ "$ENGINE_STATE" != answers ]; do
    if ! process_runs dockerd || [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 15 "$ENGINE_LOG" >&2
      fail "the Docker engine did not start; the end of $ENGINE_LOG is above"
    fi
    sleep 0.3
  done
}

# What a killed daemon leaves behind keeps the next one from starting: process ids that other programs may have by now,
# sockets that nobody serves, and its containerd.
remove_stale_engine_files() {
  local state=/var/run/docker/containerd
  end_left_containerd "$state/containerd.pid"
  rm -f /var/run/docker.pid /var/run/docker.sock "$state"/containerd.pid "$state"/*.sock "$state"/*.sock.ttrpc
  process_runs containerd || rm -f /run/containerd/containerd.sock /run/containerd/containerd.sock.ttrpc
}

end_left_containerd() {
  local process
  process=$(cat "$1" 2>/dev/null) || return 0
  ! is_program "/proc/$process/exe" containerd || end_process "$process"
}
