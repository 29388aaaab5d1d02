#!/bin/sh
# Builds policy.wasm. RUSTC names the compiler; it needs the target
# wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown,
# or Debian: apt install rustc libstd-rust-dev-wasm32 lld-14
set -eu
cd "$(dirname "$0")"
has_target() { [ -d "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/wasm32-unknown-unknown/lib" ]; }
rustc=${RUSTC:-}
for r in rustc /usr/bin/rustc; do
    if [ -z "$rustc" ] && command -v "$r" >/dev/null && has_target "$r"; then rustc=$r; fi
done
[ -n "$rustc" ] || { echo "no rustc with the target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown" >&2; exit 3; }
# The stack is small because every decision starts from a copy of the memory:
# without the option Rust takes a megabyte.
"$rustc" --target wasm32-unknown-unknown --crate-type cdylib --crate-name policy --edition 2021 \
    -C opt-level=3 -C lto -C codegen-units=1 -C target-feature=+bulk-memory -C panic=abort -C strip=symbols \
    -C link-arg=-zstack-size=16384 \
    --remap-path-prefix "$PWD=." -o policy.wasm src/lib.rs
