#!/usr/bin/env bash
# Makes this machine ready: Node, dependencies, build, Docker engine, Compose, base images. Quick when all is there.
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" versions apt newer-suites node compiler \
  processes engine engine-start compose-plugin base-images debian-image

# Two set-ups at once would install over each other.
if command -v flock >/dev/null; then
  exec 9>"${TMPDIR:-/tmp}/belljar-setup-$(id -u).lock"
  flock 9
fi

check_node
if [ "${1:-}" != --engine-only ]; then
  install_dependencies
  ensure_compiler
  build
fi
ensure_engine
ensure_compose
ensure_base_images
