#!/usr/bin/env bash
# Runs the three demo tasks in real containers. Needs no API key.
set -euo pipefail

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/lib/load.sh" leaks

bash scripts/setup.sh
before=$(run_objects)

status=0
node dist/cli/main.js run compose/jsonl/task.ts compose/adaptive/task.ts compose/seedless/task.ts --log-dir ./logs || status=$?

nothing_left "$before" || exit 4
exit "$status"
