#!/usr/bin/env bash
# Runs all scripts of faults: all.sh [--short]. Each prints one line. $MOOT is the program to
# test, and $MOOT_WALLTIME that of the folder walltime; without them, they are built.
set -euo pipefail
cd "$(dirname "$0")"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export MOOT_FAULTS_CACHE=$cache/cache
if [[ -z ${MOOT-} ]]; then
	go build -o "$cache/moot" ../../cmd/moot
	export MOOT=$cache/moot
fi
if [[ -z ${MOOT_WALLTIME-} ]]; then
	go build -o "$cache/walltime" ./walltime
	export MOOT_WALLTIME=$cache/walltime
fi
failed=0
for script in kill ioerror disk repair slow readers locks clock wallclock stop memory; do
	"./$script.sh" "$@" || failed=1
done
exit $failed
