# shellcheck shell=bash
# Sourced. Runs checks and tests, counts what they say, and ends with the one line that sums up.

PASSED=0
FAILED=0
SKIPPED=0

# run_check NAME COMMAND..: one check, passed or failed.
run_check() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  if "$@" </dev/null; then
    PASSED=$((PASSED + 1))
  else
    FAILED=$((FAILED + 1))
    printf '== %s: failed\n' "$name"
  fi
}

# run_tests PROJECT: one vitest project, counted by its own report.
run_tests() {
  local status=0 report
  report=$(mktemp)
  printf '\n== %s tests\n' "$1"
  node_modules/.bin/vitest run --project "$1" --reporter=default --reporter=json --outputFile="$report" </dev/null || status=$?
  count_tests "$report" "$status"
  rm -f "$report"
}

# A run that failed without a failed test (a file that does not load, an unhandled error) counts as one failure.
count_tests() {
  local counts passed failed skipped
  counts=$(node "$SCRIPTS/lib/vitest-counts.mjs" "$1") || counts='0 1 0'
  read -r passed failed skipped <<<"$counts"
  if [ "$2" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
  SKIPPED=$((SKIPPED + skipped))
  TESTS=$((${TESTS:-0} + passed + failed))
}

finish() {
  local line="$PASSED passed, $FAILED failed"
  if [ "$SKIPPED" -gt 0 ]; then line="$line, $SKIPPED skipped"; fi
  [ "${TESTS:-0}" -gt 0 ] || printf '\nerror: no test ran\n'
  printf '\n%s\n' "$line"
  [ "$FAILED" -eq 0 ] && [ "${TESTS:-0}" -gt 0 ]
}
