#!/usr/bin/env bash
# Kills moot with SIGKILL in its n-th call of each system call that changes files.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_strace
room 6
points=({1..40} {45..150..5})
[[ -z $short ]] || points=(1 3 12 40)
kills=0
rooms=0
for call in openat pwrite64 write fsync ftruncate linkat,link unlinkat,unlink renameat,rename; do
	survived=0
	for n in "${points[@]}"; do
		((survived < 2)) || break # calls are counted by thread
		fresh
		calls=${call/,/,?}
		under=(strace -f -qq -o trace -e "trace=?$calls" -e "inject=?$calls:signal=SIGKILL:when=$n")
		begin
		if ((code == 137)); then
			((++kills))
			survived=0
		else
			((++survived))
		fi
		room_id=$(id)
		[[ -n $room_id ]] || continue
		((++rooms))
		complete "$room_id" "killed in call $n of $call"
	done
done
((kills >= 5 && rooms >= 5)) || fail "only $kills kills of $rooms rooms"
ok "$kills kills, $rooms rooms resumed, no acknowledged event lost"
