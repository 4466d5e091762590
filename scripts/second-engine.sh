#!/usr/bin/env bash
# A Docker engine of one's own for tests that restart, kill or starve it. Root on Linux only.
#   second-engine.sh start NAME [20.10|newest]   starts it, or starts it again with the data it had; prints its DOCKER_HOST
#   second-engine.sh kill NAME            kills it as kill -9 does; containers run on
#   second-engine.sh stop NAME            ends it with its containers and removes its data
# BELLJAR_ENGINE_DISK=64m: its data is kept in memory, and no more than so much of it.
# BELLJAR_ENGINE_CONFIG='{"live-restore": true}': its daemon.json.
# It has a network namespace of its own, so its containers reach each other but nothing outside. 20.10 is unpacked from
# Debian 12's packages, newest from Debian's newest suite; otherwise the installed engine is taken.
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" apt newer-suites processes second-engine

[ "$#" -ge 2 ] || fail 'usage: second-engine.sh start NAME [20.10|newest] | kill NAME | stop NAME'
[ "$(id -u)" = 0 ] || fail 'only root can start a second engine'
case "$2" in *[!a-z0-9-]*) fail "a name has only a-z, 0-9 and -, not '$2'" ;; esac
second_engine_named "$2"

case "$1" in
  start) start_second_engine "${3:-installed}" ;;
  kill) end_processes KILL dockerd ;;
  stop) stop_second_engine ;;
  *) fail "unknown command '$1'" ;;
esac
