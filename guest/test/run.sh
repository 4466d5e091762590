#!/usr/bin/env bash
# Tests of the guest's own: a table test of users, fuzzing of what parses foreign bytes, and the project's guest tests
# against a build with AddressSanitizer and UndefinedBehaviorSanitizer. Says of each whether it ran.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${FUZZ_SECONDS:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=gnu11 -g -O1 -Wall -Wextra -Werror)
checks=("-fsanitize=address,undefined" -fno-sanitize-recover=all)

gcc "${flags[@]}" "${checks[@]}" guest/test/identity_test.c guest/src/{identity,wire}.c -o "$work/identity"
"$work/identity"

if command -v clang > /dev/null && clang -fsanitize=fuzzer -x c /dev/null -c -o "$work/probe" 2> /dev/null; then
  clang "${flags[@]}" -fsanitize=fuzzer,address,undefined guest/test/fuzz_frame.c guest/src/wire.c -o "$work/fuzz_frame"
  # Entries that a fuzzed jump leaves behind are no leak of the guest's: its worker ends there.
  clang "${flags[@]}" -fsanitize=fuzzer,address,undefined guest/test/fuzz_tar.c guest/src/{tar_read,wire}.c -o "$work/fuzz_tar"
  for target in fuzz_frame fuzz_tar; do
    mkdir "$work/$target.corpus"
    ASAN_OPTIONS=detect_leaks=0 "$work/$target" -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=2048 \
      "$work/$target.corpus" > "$work/$target.log" 2>&1 || { tail -30 "$work/$target.log"; exit 1; }
    echo "$target: $(grep -c . < <(ls "$work/$target.corpus")) inputs kept after $seconds s, $(grep -oE 'stat::number_of_executed_units: *[0-9]+|Done [0-9]+ runs' "$work/$target.log" | tail -1), no finding"
  done
else
  echo "fuzzing: NOT run, clang with libFuzzer is not here"
fi

arm64=$PWD/dist/guest/linux-arm64/belljar-guest
if command -v qemu-aarch64-static > /dev/null && [ -x "$arm64" ]; then
  printf '#!/bin/sh\nexec qemu-aarch64-static %s "$@"\n' "$arm64" > "$work/arm64"
  chmod +x "$work/arm64"
  # qemu-user knows no subreapers, so what needs one is left out there.
  BELLJAR_GUEST="$work/arm64" node_modules/.bin/vitest run --project unit --testTimeout 60000 \
    --testNamePattern '^(?!.*kills the whole tree at the deadline)' test/unit/sandbox/guest/{exec,files,process}.test.ts
  echo "arm64: the guest tests of commands and files ran under qemu-user"
else
  echo "arm64: NOT run, qemu-aarch64-static or the arm64 build is not here"
fi

gcc "${flags[@]}" "${checks[@]}" guest/src/*.c -o "$work/belljar-guest"
if [ -x node_modules/.bin/vitest ]; then
  # Leaks cannot be looked for: the guest is not dumpable, so nothing may trace it.
  ASAN_OPTIONS=detect_leaks=0 BELLJAR_GUEST="$work/belljar-guest" node_modules/.bin/vitest run --project unit \
    --testTimeout 60000 test/unit/sandbox/guest
  echo "sanitizers: the guest tests ran against the build with ASan and UBSan"
else
  echo "sanitizers: NOT run, vitest is not installed"
fi
