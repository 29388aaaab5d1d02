#!/bin/sh
# Makes proto/*.pb.go again. It needs protoc (Debian: apt install protobuf-compiler) and Go.
set -eu
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
GOBIN=$tools go install github.com/knqyf263/go-plugin/cmd/protoc-gen-go-plugin@v0.9.0
PATH=$tools:$PATH protoc --go-plugin_out=proto --go-plugin_opt=paths=source_relative -Iproto proto/policy.proto
