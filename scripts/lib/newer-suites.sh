# shellcheck shell=bash
# Sourced. Packages from newer Debian suites than the system's own, without touching its apt configuration: sources,
# pins and lists live in a temporary folder, and an installation that would change any other package is refused.

NEWER_SUITES='trixie sid'
NEWER_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

install_from_newer_suites() {
  say "installing from newer suites: $*"
  in_temporary_folder install_with_sources_in "$@"
}

install_with_sources_in() {
  local room=$1
  shift
  prepare_newer_suites "$room"
  refuse_other_changes "$room" "$@"
  quietly with_newer_suites "$room" apt_install "$@" || fail "could not install $*"
}

# unpack_from_newer_suites FOLDER PACKAGE..: makes the folder of the packages' files, installing nothing.
unpack_from_newer_suites() {
  rm -rf "$1.unpacked"
  mkdir -p "$1.unpacked"
  in_temporary_folder unpack_with_sources_in "$1.unpacked" "${@:2}"
  mv "$1.unpacked" "$1"
}

unpack_with_sources_in() {
  local sources=$1 room=$2
  shift 2
  prepare_newer_suites "$sources"
  (
    cd "$room"
    quietly with_newer_suites "$sources" apt-get download "$@" || fail "could not download $*"
    for package in ./*.deb; do dpkg-deb --extract "$package" .; done
    rm ./*.deb
  )
}

# Prints "BASE SUITE" for each suite that apt uses; apt itself reads its sources, in whichever of the two formats.
apt_suites() {
  apt-get update --print-uris 2>/dev/null | sed -n "s|^'\(.*\)/dists/\(.*\)/InRelease' .*|\1 \2|p"
}

prepare_newer_suites() {
  local room=$1 base
  base=$(apt_suites | awk -v suite="$(os_field VERSION_CODENAME)" '$2 == suite { print $1; exit }')
  [ -n "$base" ] || fail "apt has no source for its own release '$(os_field VERSION_CODENAME)' to derive newer ones from"
  mkdir -p "$room/sources" "$room/preferences" "$room/lists/partial"
  cp_if_any "$room/sources" /etc/apt/sources.list /etc/apt/sources.list.d/*
  cp_if_any "$room/preferences" /etc/apt/preferences.d/*
  write_newer_source "$base" >"$room/sources/belljar-newer.sources"
  write_pins >"$room/preferences/belljar-newer"
  write_apt_configuration "$room" >"$room/apt.conf"
  quietly with_newer_suites "$room" apt-get update || say 'apt-get update failed for some suites'
}

cp_if_any() {
  local into=$1 file
  for file in "${@:2}"; do
    [ ! -f "$file" ] || cp "$file" "$into/"
  done
}

write_newer_source() {
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nCheck-Valid-Until: no\n' "$1" "$NEWER_SUITES"
  [ ! -f "$NEWER_KEYRING" ] || printf 'Signed-By: %s\n' "$NEWER_KEYRING"
}

# runc and tini stay the system's own: the newer ones need a newer libc.
write_pins() {
  local suite
  for suite in $NEWER_SUITES; do
    pin '*' "$suite" 50
  done
  pin 'docker.io docker-cli docker-buildx containerd' trixie 990
  pin 'docker-compose' sid 990
}

pin() {
  printf 'Package: %s\nPin: release n=%s\nPin-Priority: %s\n\n' "$1" "$2" "$3"
}

write_apt_configuration() {
  cat <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$1/sources";
Dir::Etc::preferencesparts "$1/preferences";
Dir::State::lists "$1/lists";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
END
}

with_newer_suites() {
  local room=$1
  shift
  APT_CONFIG="$room/apt.conf" "$@"
}

refuse_other_changes() {
  local room=$1 changes
  shift
  changes=$(with_newer_suites "$room" apt-get install -s --no-install-recommends "$@" 2>&1) ||
    fail "apt cannot install $*: $(tail -n 5 <<<"$changes")"
  changes=$(other_changes <<<"$changes")
  [ -z "$changes" ] || fail "not installing $*, as it would upgrade or remove $changes"
}

# Reads what apt-get -s prints; an installed version stands in brackets.
other_changes() {
  awk '
    $1 == "Inst" && $3 !~ /^\[/ { next }
    $1 != "Inst" && $1 != "Remv" { next }
    $2 !~ /^(docker|containerd|runc|tini|python3-docker)/ { printf "%s ", $2 }
  '
}
