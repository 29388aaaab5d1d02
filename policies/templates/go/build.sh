#!/bin/sh
# Builds policy.wasm. Only Go is needed (1.24 or later).
set -eu
cd "$(dirname "$0")"
GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 go build -buildmode=c-shared -trimpath -buildvcs=false "-ldflags=-w -buildid=" -o policy.wasm .
