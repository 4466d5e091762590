# shellcheck shell=bash
# Sourced. Packages of Debian and Ubuntu, from the sources that apt already uses.

os_field() {
  # shellcheck source=/dev/null
  (. /etc/os-release 2>/dev/null && printf '%s' "${!1:-}")
}

# Only root on Debian or Ubuntu may be given packages; elsewhere the scripts say what is missing.
can_install_packages() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  case "$(os_field ID)" in debian | ubuntu) ;; *) return 1 ;; esac
}

# Old package lists name files that the mirror no longer has, so a failure is tried again with new ones.
install_packages() {
  say "installing: $*"
  apt_install "$@" >/dev/null 2>&1 </dev/null && return
  quietly apt-get update || say 'apt-get update failed'
  quietly apt_install "$@" || fail "could not install $*"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# Unpacks the files of packages into a folder, installing nothing.
unpack_packages() {
  (
    cd "$1" || exit
    shift
    download_packages "$@"
    for package in ./*.deb; do dpkg-deb --extract "$package" .; done
    rm ./*.deb
  )
}

download_packages() {
  apt-get download "$@" >/dev/null 2>&1 && return
  quietly apt-get update || say 'apt-get update failed'
  quietly apt-get download "$@" || fail "could not download $*"
}

# Runs a command and shows its output only if it failed.
quietly() {
  local output
  output=$("$@" 2>&1 </dev/null) && return
  printf '%s\n' "$output" | tail -n 15 >&2
  return 1
}

package_candidate() {
  apt-cache "${@:2}" policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}
