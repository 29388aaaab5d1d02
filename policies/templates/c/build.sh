#!/bin/sh
# Builds policy.wasm. CLANG names the compiler; it also needs lld.
# Debian: apt install clang-19 lld-19
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-}
for c in clang-19 clang; do
    if [ -z "$clang" ] && command -v "$c" >/dev/null; then clang=$c; fi
done
[ -n "$clang" ] || { echo "no clang: apt install clang-19 lld-19" >&2; exit 3; }
# The stack is small because every decision starts from a copy of the memory.
"$clang" --target=wasm32-unknown-unknown -std=c11 -O2 -nostdlib -ffreestanding -mbulk-memory \
    -Wall -Wextra -Werror -Wno-unused-function -Wno-int-to-void-pointer-cast \
    -Wl,--no-entry -Wl,-z,stack-size=16384 -Wl,--strip-all -o policy.wasm policy.c
