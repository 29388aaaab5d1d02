#!/usr/bin/env bash
# Resumes a killed room on machines whose monotonic clock has another origin, as after a
# restart or a suspension. wallclock.sh moves the wall clock.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v unshare >/dev/null && unshare --time --monotonic 1000 true 2>/dev/null || {
	printf 'skip %s: the kernel gives no name space of clocks here\n' "$name"
	exit 0
}
room 12 20ms
: >acked
seconds=0.3
for jump in 0 100000000 1 31536000 0 100000000; do
	under=(unshare --time --monotonic "$jump" --boottime "$jump" timeout -s KILL "$seconds")
	begin "$(id)"
	[[ -n $(id) ]] || seconds=20 # on a busy machine
	((code == 137 || code == 5)) || fail "after a jump of $jump s: exit code $code"
	[[ -z $(id) ]] || check "$(id)" "after a jump of $jump s"
done
room_id=$(id)
[[ -n $room_id ]] || fail 'no room has begun'
complete "$room_id" 'after all jumps'
ok 'a room went on after jumps of the monotonic clock of up to three years'
