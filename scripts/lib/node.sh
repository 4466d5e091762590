# shellcheck shell=bash
# Sourced. Node, the project's dependencies and its build.

OLDEST_NODE=20.19

check_node() {
  command -v node >/dev/null || fail "Node.js is missing; install Node.js $OLDEST_NODE or newer"
  local version
  version=$(node --version)
  version_at_least "${version#v}" "$OLDEST_NODE" || fail "Node.js is ${version#v}; needed is $OLDEST_NODE or newer"
  say "node: ${version#v}"
}

# The stamp is a copy of the lock file that was installed.
install_dependencies() {
  local stamp=node_modules/.belljar-installed
  if cmp -s package-lock.json "$stamp"; then
    return
  fi
  say 'installing dependencies'
  npm ci --no-audit --no-fund --loglevel=error || fail 'npm ci failed'
  cp package-lock.json "$stamp"
}

# Built again when a source is newer than the last build.
build() {
  local stamp=node_modules/.belljar-built
  if [ -f "$stamp" ] && [ -f dist/cli/main.js ] && [ -z "$(sources_newer_than "$stamp")" ]; then
    return
  fi
  say 'building'
  rm -f "$stamp"
  local started
  started=$(mktemp)
  npm run -s build || fail 'the build failed'
  mv "$started" "$stamp"
}

sources_newer_than() {
  find src guest egress scripts/build-guest* package.json package-lock.json tsconfig*.json tsdown.config.* \
    -newer "$1" -print 2>/dev/null | head -n 1
}
