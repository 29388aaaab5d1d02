#!/bin/sh
# Makes the committed modules in this folder again, with the flags of the author kit.
# Debian: apt install clang-19 lld-19
set -eu
cd "$(dirname "$0")"
for guest in extism wapc; do
    "${CLANG:-clang-19}" --target=wasm32-unknown-unknown -std=c11 -O2 -nostdlib -ffreestanding -mbulk-memory \
        -Wall -Wextra -Werror -Wno-unused-function -Wno-int-to-void-pointer-cast \
        -Wl,--no-entry -Wl,-z,stack-size=16384 -Wl,--strip-all -o "$guest.wasm" "$guest.c"
done
