#!/usr/bin/env bash
# A second engine (second-engine.sh) that has the runtime runsc, for tests under gVisor. Prints its DOCKER_HOST.
#   runsc-engine.sh NAME       starts it; `second-engine.sh stop NAME` ends it
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" apt newer-suites second-engine runsc

[ "$#" = 1 ] || fail 'usage: runsc-engine.sh NAME'
binary=$(runsc_binary)
[ -x "$binary" ] || fail 'runsc could not be had'
host=$(bash scripts/second-engine.sh start "$1")
second_engine_named "$1"
printf '{"runtimes":{"runsc":{"path":"%s","runtimeArgs":["--network=none"]}}}' "$binary" >"$ENGINE_ROOM/daemon.json"
kill -HUP "$(cat "$ENGINE_ROOM/docker.pid")"

tries=0
until docker --host "$host" info --format '{{json .Runtimes}}' | grep -q '"runsc"'; do
  tries=$((tries + 1))
  [ "$tries" -lt 50 ] || fail 'the engine did not take the runtime; see its log'
  sleep 0.2
done
printf '%s\n' "$host"
