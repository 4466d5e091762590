#!/usr/bin/env bash
# Builds the programs for containers, guest/ and egress/, for this machine's architecture, and for the other one of linux
# amd64 and arm64 where a cross compiler is.
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

up_to_date() { # program, binary
  [ -f "$2" ] && [ -z "$(find "$1/src" scripts/build-guest.sh -newer "$2" -print -quit)" ]
}

build() { # program, compiler, architecture
  local out=dist/$1/linux-$3/belljar-$1
  up_to_date "$1" "$out" && return
  mkdir -p "$(dirname "$out")"
  "$2" -std=gnu11 -static -Os -s -Wall -Wextra -Werror -ffunction-sections -fdata-sections -Wl,--gc-sections \
    "$1"/src/*.c -o "$out.new.$$"
  mv "$out.new.$$" "$out"
  echo "$1: built $out with $(basename "$2"), $(stat -c %s "$out") bytes"
}

found=0
for target in x86_64:amd64 aarch64:arm64; do
  if compiler=$(compiler_for "${target%:*}"); then
    found=1
    build guest "$compiler" "${target#*:}"
    build egress "$compiler" "${target#*:}"
  fi
done
if [ "$found" = 0 ]; then
  echo "no C compiler found: belljar works without the guest (slower, over the Engine's exec), and refuses network allow-lists"
fi
