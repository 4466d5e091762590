#!/usr/bin/env bash
# Runs the tests that take long: storms, repeats, large corpora. The last line is "N passed, N failed".
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" results leaks

bash scripts/setup.sh
before=$(run_objects)

export BELLJAR_LONG=1
run_tests long
run_check leaks nothing_left "$before"
finish
