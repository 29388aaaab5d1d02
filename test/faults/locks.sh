#!/usr/bin/env bash
# Runs a room twice at once, with its lock and with a lock that was deleted. The log lets
# one of them append.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
room 40 200ms
: >acked
: >first
"$moot" run --headless --no-input -o jsonl </dev/null >first 2>first.err &
first=$!
finish+=("kill -9 $first 2>/dev/null")
started first "$first"
room_id=$(grep -ao '"room":"r_[0-9a-z]*"' first | head -n 1 | cut -d'"' -f4)
begin "$room_id"
grep -q 'LOCKED' err || fail "a second process got the room: exit code $code"
rm -rf "$MOOT_DATA/locks"
begin "$room_id" # it may run, join, or be refused
second=$code
code=0
wait "$first" || code=$?
cat first >>acked
complete "$room_id" "locks were deleted (exit codes $code and $second)"
doubles=$(grep -a '"type":"turn.granted"' exported | grep -o '"body":{"turn":[0-9]*' | sort | uniq -d | wc -l)
((doubles == 0)) || fail "$doubles turns were granted twice"
ok "a held room is refused; without its lock the two processes ended with $code and $second, no acknowledged event lost"
