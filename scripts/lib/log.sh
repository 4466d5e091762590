# shellcheck shell=bash
# Sourced. How the scripts speak.

say() {
  printf '%s\n' "$*"
}

# Runs "COMMAND FOLDER ARGUMENTS.." with a folder that is gone afterwards. Call it outside of conditions, which would
# switch "set -e" off inside.
in_temporary_folder() {
  (
    room=$(mktemp -d)
    trap 'rm -rf "$room"' EXIT
    "$1" "$room" "${@:2}"
  )
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
