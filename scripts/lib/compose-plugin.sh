# shellcheck shell=bash
# Sourced. The docker command line with Compose and buildx.

OLDEST_COMPOSE=2.26

ensure_compose() {
  local missing
  missing=$(missing_client_packages)
  # shellcheck disable=SC2086 # a list of names
  [ -z "$missing" ] || install_client $missing
  version_at_least "$(compose_version)" "$OLDEST_COMPOSE" ||
    fail "docker compose version says '$(compose_version)'; install the Compose plugin $OLDEST_COMPOSE or newer"
  say "compose: $(compose_version)"
}

compose_version() {
  docker compose version --short 2>/dev/null | sed 's/^v//'
}

# buildx alone is no reason to stop: builds work without it.
missing_client_packages() {
  command -v docker >/dev/null || printf 'cli '
  version_at_least "$(compose_version)" "$OLDEST_COMPOSE" || printf 'compose '
  docker buildx version >/dev/null 2>&1 || printf 'buildx '
}

install_client() {
  local packages='' part
  if ! can_install_packages; then
    [ "$*" = buildx ] || fail "missing for docker: $*; install the docker command line and its Compose plugin $OLDEST_COMPOSE or newer"
    say 'buildx: missing'
    return
  fi
  for part in "$@"; do
    packages="$packages $(client_package "$part")"
  done
  # shellcheck disable=SC2086 # a list of names
  if [ "$(os_field ID)" = ubuntu ]; then install_packages $packages; else install_debian_docker $packages; fi
}

client_package() {
  case "$(os_field ID)-$1" in
    ubuntu-cli) printf docker.io ;;
    ubuntu-compose) printf docker-compose-v2 ;;
    *) printf 'docker-%s' "$1" ;;
  esac
}
