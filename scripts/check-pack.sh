#!/usr/bin/env bash
# A package without the guest of one architecture would be slow there without anybody knowing why.
set -euo pipefail
cd "$(dirname "$0")/.."

for architecture in amd64 arm64; do
  guest=dist/guest/linux-$architecture/belljar-guest
  [ -x "$guest" ] || {
    echo "not packed: $guest is missing; install a C compiler for linux $architecture and build again" >&2
    exit 1
  }
done
