# shellcheck shell=bash
# Sourced. gVisor's runsc from Debian's newer suites, unpacked beside the system, which stays as it is.

RUNSC_ROOM=/var/lib/belljar-engines/.runsc

# Prints where runsc is.
runsc_binary() {
  if [ ! -d "$RUNSC_ROOM" ]; then
    unpack_from_newer_suites "$RUNSC_ROOM" runsc >&2
  fi
  find "$RUNSC_ROOM" -type f -name runsc -perm -u+x
}
