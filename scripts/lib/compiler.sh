# shellcheck shell=bash
# Sourced. The C compiler for the program that runs inside sandboxes. The build goes on without one.

ensure_compiler() {
  if command -v musl-gcc >/dev/null && command -v gcc >/dev/null; then
    return
  fi
  can_install_packages || return 0
  (install_packages gcc libc6-dev musl-tools) || say 'compiler: none'
}
