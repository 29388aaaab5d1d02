#!/usr/bin/env bash
# Stops a running room with SIGSTOP for a minute. Other processes read meanwhile.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
seconds=60
[[ -z $short ]] || seconds=5
room 30 200ms
: >acked
"$moot" run --headless --no-input -o jsonl </dev/null >acked 2>err &
pid=$!
finish+=("kill -9 $pid 2>/dev/null")
started acked "$pid"
kill -STOP "$pid"
check "$(id)" 'while it is stopped'
sleep "$seconds"
kill -CONT "$pid"
code=0
wait "$pid" || code=$?
((code == 5)) || fail "exit code $code after the stop"
check "$(id)" 'after the stop'
ok "a room went on after $seconds s of SIGSTOP"
