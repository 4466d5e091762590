#!/usr/bin/env bash
# Runs all checks and tests. The last line is "N passed, N failed".
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" versions apt compiler results leaks

ensure_guest_test_tools
bash scripts/setup.sh
before=$(run_objects)

run_check lint npm run -s lint
run_check types npm run -s typecheck
run_check layers npm run -s layers
run_check 'unused code' npm run -s unused
run_tests unit
run_check 'guest: users, fuzzing, sanitizers, arm64' env FUZZ_SECONDS=5 bash guest/test/run.sh
run_check 'egress: allow-lists, fuzzing' env FUZZ_SECONDS=5 bash egress/test/run.sh
run_tests docker
run_tests e2e
run_check leaks nothing_left "$before"
finish
