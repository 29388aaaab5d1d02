#!/bin/sh
# Compares the relay with derper; see doc.go. Clients run on the second core, relays on the first.
set -eu
cd "$(dirname "$0")"
pin=
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then pin="taskset -c 1"; fi
go test -c -o "${TMPDIR:-/tmp}/moot-bench-relay" .
exec $pin "${TMPDIR:-/tmp}/moot-bench-relay" -test.v -test.run '^$' -test.bench "${1:-.}" -test.benchtime 3x -test.timeout 30m
