#!/usr/bin/env bash
# Stops readers: one that follows the room's log, and one that holds an old view of the database.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v python3 >/dev/null || lacking 'python3 holds a view of the database, and is missing'
room 2
fresh
begin
first=$(id)
room 30 200ms
: >acked
"$moot" run --headless --no-input -o jsonl </dev/null >acked 2>err &
pid=$!
finish+=("kill -9 $pid 2>/dev/null")
started acked "$pid"
second=$(id)
"$moot" transcript tail "$second" >followed 2>/dev/null &
reader=$!
finish+=("kill -9 $reader 2>/dev/null")
until [[ -s followed ]]; do
	kill -0 "$reader" 2>/dev/null || fail "the reader has ended"
	sleep 0.05
done
kill -STOP "$reader"
coproc holder {
	exec python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("begin"); c.execute("select count(*) from events").fetchone()
print("held", flush=True); sys.stdin.read()' "$MOOT_DATA/moot.db"
}
read -r -u "${holder[0]}" held
[[ $held == held ]] || fail 'no view of the database'
code=0
wait "$pid" || code=$?
((code == 5)) || fail "exit code $code"
check "$second" 'stopped readers'
kill -CONT "$reader"
"$moot" transcript verify "$first" >/dev/null || fail 'the first room is damaged'
ok 'a room came to its end while two readers were stopped'
