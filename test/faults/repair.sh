#!/usr/bin/env bash
# Damages a page of the database, removes the room that it belongs to, and imports the room
# from its export. The other rooms run on.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v python3 >/dev/null || lacking 'python3 finds a page of a room, and is missing'
count=2
[[ -n $short ]] || count=12

# intact ROOM fails unless the room has the events that were exported.
intact() {
	"$moot" transcript verify "$1" >verified 2>err || fail "$2: room $1 is damaged"
	"$moot" transcript export "$1" >exported 2>err || fail "$2: room $1 cannot be exported"
	cmp -s "$1.jsonl" exported || fail "$2: room $1 has other events"
}

fresh
ids=()
for ((n = 0; n < count; n++)); do
	room 12
	: >acked
	begin
	((code == 5)) || fail "exit code $code"
	made=$(id)
	ids+=("$made")
	"$moot" transcript export "$made" >"$made.jsonl" 2>err || fail 'a room cannot be exported'
done
for victim in "${ids[@]}"; do
	python3 - "$MOOT_DATA/moot.db" "$victim" <<-'END'
		import sqlite3, sys
		path, room = sys.argv[1:]
		c = sqlite3.connect(path)
		c.execute("pragma wal_checkpoint(truncate)")
		size = c.execute("pragma page_size").fetchone()[0]
		id, last = c.execute("select id, last from rooms where name = ?", (room,)).fetchone()
		raw = c.execute("select raw from events where key = ?", (id << 36 | last // 2,)).fetchone()[0]
		c.close()
		with open(path, "r+b") as f:
		    at = f.read().index(raw) + len(raw) // 2
		    f.seek(at); b = f.read(1); f.seek(at); f.write(bytes([b[0] ^ 1]))
	END
	code=0
	"$moot" transcript verify "$victim" >verified 2>err || code=$?
	((code != 0)) && grep -q "$victim" err || fail "a damaged room is not named: exit code $code"
	for id in "${ids[@]}"; do
		[[ $id == "$victim" ]] || intact "$id" 'another room is damaged'
	done
	room 2
	: >acked
	begin # a new room, in the damaged database
	((code == 5)) || fail "a new room ended with $code"
	complete "$(id)" 'a new room'
	"$moot" rm --yes "$victim" >/dev/null 2>err || fail 'the damaged room cannot be removed'
	"$moot" transcript import "$victim.jsonl" >/dev/null 2>err || fail 'the room cannot be imported'
	intact "$victim" 'imported'
done
ok "$count rooms were damaged in turn, named, removed and imported; the other ones were read and a new one ran meanwhile"
