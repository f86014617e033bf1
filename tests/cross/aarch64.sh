#!/bin/sh
# Compiles what runs inside a profiled process for AArch64 and runs its unit tests under emulation.
# Usage: aarch64.sh SOURCE_DIR BUILD_DIR. Exit status 77: something is missing here (named), not tested.
set -eu
source=$1
build=$2

for tool in aarch64-linux-gnu-g++ qemu-aarch64-static cmake ninja; do
  command -v "$tool" >/dev/null || {
    echo "skipped: $tool is not installed (Debian: g++-aarch64-linux-gnu qemu-user-static cmake ninja-build)"
    exit 77
  }
done
[ -d /usr/src/googletest/googletest/src ] || {
  echo "skipped: no GoogleTest source in /usr/src/googletest (Debian: googletest)"
  exit 77
}

cmake -S "$source/tests/cross" -B "$build" -G Ninja --toolchain "$source/cmake/aarch64.cmake" >/dev/null
ninja -C "$build" -j 2 cross_test handlers
python3 "$source/tests/e2e/hot_path_asm_test.py" "$build/libhandlers.so" aarch64-linux-gnu-objdump
# There is no zstd for the other architecture here.
qemu-aarch64-static "$build/cross_test" --gtest_brief=1 --gtest_filter=-*Continuous*:*Compressed*
