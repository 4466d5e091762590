#!/usr/bin/env bash
# Tests of the egress program's own: tables of what is on an allow-list, and fuzzing of what parses foreign bytes. Says of each
# whether it ran.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${FUZZ_SECONDS:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=gnu11 -g -O1 -Wall -Wextra -Werror)

gcc "${flags[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all egress/test/allow_test.c egress/src/allow.c -o "$work/allow"
"$work/allow"

seeds() { # folder: a request for each port, and an answer
  printf '\0CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n\r\n' >"$1/connect"
  printf '\0GET http://a.example:8080/p?q HTTP/1.1\r\nHost: b\r\nProxy-Connection: close\r\nX: y\r\n\r\nbody' >"$1/proxy"
  printf '\1GET /p HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n' >"$1/http"
  printf '\2\26\3\1\0\103\1\0\0\077\3\3%032d\0\0\2\23\1\1\0\0\24\0\0\0\20\0\16\0\0\13a.example.x' 0 >"$1/tls"
  printf '\0\7\201\200\0\1\0\1\0\0\0\0\1a\7example\0\0\1\0\1\300\14\0\1\0\1\0\0\0\11\0\4\1\2\3\4' >"$1/answer"
}

if command -v clang >/dev/null && clang -fsanitize=fuzzer -x c /dev/null -c -o "$work/probe" 2>/dev/null; then
  clang "${flags[@]}" -fsanitize=fuzzer,address,undefined egress/test/fuzz_client.c egress/src/{http,tls,io}.c -o "$work/fuzz_client"
  clang "${flags[@]}" -fsanitize=fuzzer,address,undefined egress/test/fuzz_answer.c -o "$work/fuzz_answer"
  for target in fuzz_client fuzz_answer; do
    mkdir "$work/$target.corpus"
    seeds "$work/$target.corpus"
    # A process serves one client and ends: what it has not freed by then is no leak.
    ASAN_OPTIONS=detect_leaks=0 "$work/$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=20 \
      "$work/$target.corpus" >"$work/$target.log" 2>&1 || { tail -30 "$work/$target.log"; exit 1; }
    echo "$target: $(find "$work/$target.corpus" -type f | wc -l) inputs kept after $seconds s, $(grep -oE 'Done [0-9]+ runs' "$work/$target.log" | tail -1), no finding"
  done
else
  echo "fuzzing: NOT run, clang with libFuzzer is not here"
fi
