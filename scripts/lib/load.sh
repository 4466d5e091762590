# shellcheck shell=bash
# Sourced first by every script, with the names of the parts it needs. Goes to the root of the repository.

SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$SCRIPTS/.." || exit

for part in log "$@"; do
  # shellcheck source=/dev/null
  source "$SCRIPTS/lib/$part.sh"
done
