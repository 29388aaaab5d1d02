#!/usr/bin/env bash
# Makes one write or sync of the log fail, once and for ever.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_strace
room 6
points=({1..30} {35..120..5})
[[ -z $short ]] || points=(2 9)
failures=0
runs=0
for fault in fsync,fdatasync:error=EIO pwrite64:error=EIO pwrite64:error=ENOSPC write:error=ENOSPC; do
	for n in "${points[@]}"; do
		for when in "$n" "$n+"; do
			fresh
			begin # the log exists, so that strace finds its files
			first=$(id)
			: >acked
			calls=${fault%%:*}
			under=(strace -f -qq -o trace)
			for file in moot.db moot.db-wal moot.heads; do under+=(-P "$MOOT_DATA/$file"); done
			under+=(-e "trace=$calls" -e "inject=$fault:when=$when")
			begin
			((++runs))
			under=()
			((code == 5)) || ((++failures))
			((code != 137 && code != 2)) || fail "$fault at $when: exit code $code"
			grep -q '"code":"LOG-' err || ((code == 5)) || fail "$fault at $when: exit code $code without the code of an error"
			"$moot" transcript verify "$first" >verified 2>err || fail "$fault at $when: another room is damaged"
			room_id=$(id)
			[[ -z $room_id ]] || complete "$room_id" "$fault at $when"
		done
	done
done
((failures >= 3)) || fail "only $failures of $runs runs met the fault"
ok "$runs runs, $failures ended by an error of the disk, no acknowledged event lost"
