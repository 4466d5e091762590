#!/usr/bin/env bash
# Asks a real provider five small questions: scripts/live.sh MODEL [options of `belljar run`], such as openai/gpt-5-mini.
# Its key is taken from the environment. It costs money (cents) and is no part of any other script.
set -euo pipefail

if [ $# -lt 1 ]; then
  echo 'usage: scripts/live.sh MODEL [options of belljar run]; MODEL such as openai/gpt-5-mini, anthropic/claude-haiku-4-5, google/gemini-2.5-flash, or openai-compatible/NAME with --model-base-url' >&2
  exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -f dist/cli/main.js ] || npm run -s build
model=$1
shift
exec node dist/cli/main.js run test/live/task.ts --model "$model" --log-dir logs/live "$@"
