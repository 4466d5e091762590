# shellcheck shell=bash
# Sourced. The two images that examples and tests start from. Where no registry can be reached they are made from the
# distribution's own packages.

ensure_base_images() {
  ensure_image busybox:latest make_busybox
  ensure_image debian:bookworm-slim make_debian
}

ensure_image() {
  local image=$1 make=$2
  if docker image inspect "$image" >/dev/null 2>&1; then
    return
  fi
  if pull_image "$image"; then
    say "image: $image pulled"
    return
  fi
  can_install_packages || fail "the image $image is missing and cannot be pulled: docker load it"
  say "image: no registry can be reached, making $image"
  in_temporary_folder "$make" "$image"
}

# A registry that says nothing for 5 s is not waited for; a pull may take 20 s.
pull_image() {
  local output puller tenths=0
  [ -z "${REGISTRY_UNREACHABLE:-}" ] || return 1
  output=$(mktemp)
  docker pull "$1" >"$output" 2>&1 </dev/null &
  puller=$!
  while kill -0 "$puller" 2>/dev/null; do
    if [ "$tenths" -ge 200 ] || { [ "$tenths" -ge 50 ] && [ ! -s "$output" ]; }; then kill "$puller"; fi
    tenths=$((tenths + 1))
    sleep 0.1
  done
  rm -f "$output"
  wait "$puller" && return
  REGISTRY_UNREACHABLE=yes
  return 1
}

# Imports a folder as an image, its files owned as they are.
import_folder() {
  tar --create --numeric-owner --directory "$1" . | docker import --change "CMD [\"$3\"]" - "$2" >/dev/null
}

make_busybox() {
  local room=$1 image=$2
  mkdir "$room/package" "$room/image"
  unpack_packages "$room/package" busybox-static
  fill_busybox "$room/image" "$(find "$room/package" -path "*/bin/busybox")"
  import_folder "$room/image" "$image" sh
}

fill_busybox() {
  (
    umask 022
    cd "$1" || exit
    chmod 755 .
    mkdir -p bin dev etc home tmp usr/bin usr/sbin var/spool/mail var/www
    mkdir -m 700 root
    chmod 1777 tmp
    cp "$2" bin/busybox
    bin/busybox --list | grep -vx busybox | while read -r applet; do ln -s busybox "bin/$applet"; done
    ln -s ../../bin/busybox usr/bin/env
    write_users >etc/passwd
    write_groups >etc/group
  )
}

write_users() {
  cat <<'END'
root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/bin/false
bin:x:2:2:bin:/bin:/bin/false
www-data:x:33:33:www-data:/var/www:/bin/false
nobody:x:65534:65534:nobody:/home:/bin/false
END
}

write_groups() {
  cat <<'END'
root:x:0:
daemon:x:1:
bin:x:2:
www-data:x:33:
users:x:100:
nobody:x:65534:
END
}
