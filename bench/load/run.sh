#!/bin/sh
# Measures how many rooms, turns and watchers one process carries, and prints a table of
# goals and figures. --short takes about two minutes, without it 40. Other flags: -h.
set -e
cd "$(dirname "$0")/.."
exec go run ./load "$@"
