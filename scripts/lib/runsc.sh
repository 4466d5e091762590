# shellcheck shell=bash
# Sourced. gVisor's runsc from Debian's newer suites, unpacked beside the system, which stays as it is.

RUNSC_ROOM=/var/lib/belljar-engines/.runsc

# Prints where runsc is.
runsc_binary() {
  if [ ! -d "$RUNSC_ROOM" ]; then
    rm -rf "$RUNSC_ROOM.unpacked"
    mkdir -p "$RUNSC_ROOM.unpacked"
    in_temporary_folder unpack_runsc_with_sources_in "$RUNSC_ROOM.unpacked" >&2
    mv "$RUNSC_ROOM.unpacked" "$RUNSC_ROOM"
  fi
  find "$RUNSC_ROOM" -type f -name runsc -perm -u+x
}

unpack_runsc_with_sources_in() {
  local sources=$1 room=$2
  prepare_newer_suites "$sources"
  (
    cd "$room"
    quietly with_newer_suites "$sources" apt-get download runsc || fail 'could not download runsc'
    for package in ./*.deb; do dpkg-deb --extract "$package" .; done
    rm ./*.deb
  )
}
