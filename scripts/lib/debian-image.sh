# shellcheck shell=bash
# Sourced. Makes debian:bookworm-slim with debootstrap, from the mirror that apt uses here.

DEBIAN_SUITE=bookworm

make_debian() {
  local room=$1 image=$2
  command -v debootstrap >/dev/null || install_packages debootstrap
  chmod 755 "$room"
  run_debootstrap "$room" "$(debian_mirror)"
  write_debian_apt_configuration "$room"
  slim_debian "$room"
  import_folder "$room" "$image" bash
}

# Without a mirror debootstrap takes its own. A mirror over TLS is of use only with certificates.
run_debootstrap() {
  local options=(--variant=minbase)
  case "$2" in https:*) options+=(--include=ca-certificates) ;; esac
  quietly debootstrap "${options[@]}" "$DEBIAN_SUITE" "$1" ${2:+"$2"} || fail 'debootstrap failed'
}

debian_mirror() {
  debian_suites | awk -v suite="$DEBIAN_SUITE" '$2 == suite { print $1; exit }'
}

# "BASE SUITE" as in apt_suites, for the image's release; nothing where the host is no Debian.
debian_suites() {
  [ "$(os_field ID)" = debian ] || return 0
  apt_suites | awk -v own="$(os_field VERSION_CODENAME)" -v suite="$DEBIAN_SUITE" '
    $2 == own || $2 == own "-updates" || $2 == own "-security" { sub(own, suite, $2); print $1, $2 }
  ' | sort -u
}

write_debian_apt_configuration() {
  local sources configuration=$1/etc/apt/apt.conf.d
  sources=$(debian_suites | sed 's/^/deb /; s/$/ main/')
  [ -z "$sources" ] || printf '%s\n' "$sources" >"$1/etc/apt/sources.list"
  # A dated mirror is older than its own release files allow.
  apt-config dump Acquire::Check-Valid-Until >"$configuration/mirror"
  apt-config dump Acquire::Check-Date >>"$configuration/mirror"
  cat >"$configuration/image" <<'END'
Acquire::GzipIndexes "true";
Acquire::Languages "none";
Apt::AutoRemove::SuggestsImportant "false";
APT::Update::Post-Invoke { "rm -f /var/cache/apt/*.bin || true"; };
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };
END
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
  chmod 755 "$1/usr/sbin/policy-rc.d"
}

# What the slim images leave out, now and in packages installed later.
slim_debian() {
  (
    cd "$1" || exit
    cat >etc/dpkg/dpkg.cfg.d/slim <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END
    rm -rf var/lib/apt/lists/* var/cache/apt/*.bin var/cache/apt/archives/*.deb var/log/*.log var/log/apt/* etc/hostname
    rm -rf usr/share/info/* usr/share/locale/* usr/share/man/*
    find usr/share/doc -mindepth 2 ! -name copyright ! -type d -delete
  )
}
