# shellcheck shell=bash
# Sourced. Finds the Docker engine in the order DOCKER_HOST, active docker context, default socket; starts or installs
# one where nothing else was asked for.

OLDEST_API=1.41

ensure_engine() {
  find_engine
  if [ "$ENGINE_STATE" != answers ]; then
    [ "$ENGINE_NAME" = 'default socket' ] || fail_without_engine "it was asked for by $ENGINE_NAME, so no other is used"
    bring_up_engine
    find_engine
    [ "$ENGINE_STATE" = answers ] || fail_without_engine 'it was started, but does not answer'
  fi
  refuse_old_engine
  say "engine: $ENGINE_NAME $ENGINE_ADDRESS (version $ENGINE_VERSION, API $ENGINE_API)"
}

# Of an engine that is silent, ENGINE_VERSION is what went wrong.
find_engine() {
  ENGINE_PLACES=$(node "$SCRIPTS/lib/probe-engine.mjs")
  IFS=$'\t' read -r ENGINE_NAME ENGINE_ADDRESS ENGINE_STATE ENGINE_VERSION ENGINE_API <<<"$ENGINE_PLACES"
}

refuse_old_engine() {
  version_at_least "$ENGINE_API" "$OLDEST_API" || fail "the engine at $ENGINE_ADDRESS ($ENGINE_NAME) is version" \
    "$ENGINE_VERSION with API $ENGINE_API; needed is Docker Engine 20.10 (API $OLDEST_API) or newer"
}

fail_without_engine() {
  fail "no Docker engine answers at $ENGINE_ADDRESS ($ENGINE_NAME); $1. Tried:
$(awk -F '\t' '{ printf "  %s %s: %s\n", $1, $2, $3 == "answers" ? "version " $4 " answers" : $4 }' <<<"$ENGINE_PLACES")"
}

bring_up_engine() {
  case "$ENGINE_VERSION" in *EACCES*) fail_without_engine 'this user may not use it' ;; esac
  if ! command -v dockerd >/dev/null; then
    can_install_packages ||
      fail_without_engine 'install Docker Engine 25 or newer with Compose 2.26 or newer, or point DOCKER_HOST at an engine'
    install_engine
    find_engine
    [ "$ENGINE_STATE" != answers ] || return 0
  fi
  [ "$(id -u)" = 0 ] || fail_without_engine 'it is installed: start it as root, and let this user use it'
  start_engine
}

# Debian up to 12 has Engine 20.10 and Compose 1.29 only.
install_engine() {
  if [ "$(os_field ID)" = ubuntu ]; then
    install_packages docker.io docker-buildx docker-compose-v2
  else
    install_debian_docker docker.io docker-cli docker-buildx docker-compose
  fi
}

install_debian_docker() {
  local installer=install_from_newer_suites
  if version_at_least "$(package_candidate docker-compose)" "$OLDEST_COMPOSE"; then installer=install_packages; fi
  "$installer" "$@"
}
