# shellcheck shell=bash
# Sourced. Compares dotted version numbers.

# An empty version is older than any.
version_at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}
