#!/usr/bin/env bash
# Builds guest/ for this machine's architecture, and for the other one of linux amd64 and arm64 where a cross compiler is.
set -euo pipefail
cd "$(dirname "$0")/.."

own=$(uname -m)

compiler_for() { # machine
  if [ "$1" = "$own" ]; then
    for name in musl-gcc gcc; do command -v "$name" && return; done
  fi
  for name in "$1-linux-musl-gcc" "$1-linux-gnu-gcc"; do command -v "$name" && return; done
  return 1
}

up_to_date() { # binary
  [ -f "$1" ] && [ -z "$(find guest/src scripts/build-guest.sh -newer "$1" -print -quit)" ]
}

build() { # compiler, architecture
  local out=dist/guest/linux-$2/belljar-guest
  up_to_date "$out" && return
  mkdir -p "$(dirname "$out")"
  "$1" -std=gnu11 -static -Os -s -Wall -Wextra -Werror -ffunction-sections -fdata-sections -Wl,--gc-sections \
    guest/src/*.c -o "$out.new.$$"
  mv "$out.new.$$" "$out"
  echo "guest: built $out with $(basename "$1"), $(stat -c %s "$out") bytes"
}

found=0
for target in x86_64:amd64 aarch64:arm64; do
  if compiler=$(compiler_for "${target%:*}"); then
    found=1
    build "$compiler" "${target#*:}"
  fi
done
if [ "$found" = 0 ]; then
  echo "guest: no C compiler found, belljar works without the guest (slower, over the Engine's exec)"
fi
