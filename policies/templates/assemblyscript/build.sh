#!/bin/sh
# Builds policy.wasm. ASC names the compiler; without it the one that
# `npm install` puts here is used.
set -eu
cd "$(dirname "$0")"
asc=${ASC:-}
for a in ./node_modules/.bin/asc asc; do
    if [ -z "$asc" ] && command -v "$a" >/dev/null; then asc=$a; fi
done
[ -n "$asc" ] || { echo "no asc: npm install" >&2; exit 3; }
"$asc" assembly/policy.ts --outFile policy.wasm -O3 --runtime stub --use abort=assembly/roompolicy/abort
