#!/bin/sh
# Builds policy.wasm. WAT2WASM names the assembler.
# Debian: apt install wabt
set -eu
cd "$(dirname "$0")"
wat2wasm=${WAT2WASM:-wat2wasm}
command -v "$wat2wasm" >/dev/null || { echo "no wat2wasm: apt install wabt" >&2; exit 3; }
"$wat2wasm" -o policy.wasm policy.wat
