#!/usr/bin/env bash
# A package without the programs of one architecture would be slow there, or refuse, without anybody knowing why.
set -euo pipefail
cd "$(dirname "$0")/.."

for program in guest egress; do
  for architecture in amd64 arm64; do
    file=dist/$program/linux-$architecture/belljar-$program
    [ -x "$file" ] || {
      echo "not packed: $file is missing; install a C compiler for linux $architecture and build again" >&2
      exit 1
    }
  done
done
