# shellcheck shell=bash
# Sourced. The C compiler for the program that runs inside sandboxes. The build goes on without one.

ensure_compiler() {
  if command -v musl-gcc >/dev/null && command -v gcc >/dev/null; then
    return
  fi
  can_install_packages || return 0
  (install_packages gcc libc6-dev musl-tools) || say 'compiler: none'
}

# What the tests of the program need besides: the other architecture's compiler and emulator, and a fuzzer.
ensure_guest_test_tools() {
  if command -v aarch64-linux-gnu-gcc qemu-aarch64-static clang >/dev/null && clang_can_fuzz; then
    return
  fi
  can_install_packages || return 0
  (install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static clang libclang-rt-dev) ||
    (install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static clang libclang-rt-14-dev) ||
    say 'tools for the tests of the guest: not all'
}

clang_can_fuzz() {
  echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9; }' |
    clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null
}
