#!/usr/bin/env bash
# Moves the wall clock of a room by a day and by ten years at each reading, and resumes a
# killed room with a clock that is a day or ten years off. No limit of time may end a room.
# $MOOT_WALLTIME is the program of the folder walltime; all.sh builds it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
walltime=${MOOT_WALLTIME-}
[[ -n $walltime ]] || lacking 'MOOT_WALLTIME names no program that moves the clock'
"$walltime" 0 true 2>/dev/null || lacking 'processes may not be traced'
room 12 20ms

# whole WHAT fails unless the room had all its turns.
whole() {
	local turns
	turns=$(grep -ac '"type":"turn.granted"' exported)
	((turns == 12)) || fail "$1: the room ended after $turns of 12 turns"
}

jumps=(86400,-86400 0,315360000 -315360000,0,1)
[[ -z $short ]] || jumps=(86400,-86400,0,315360000)
for offsets in "${jumps[@]}"; do
	fresh
	under=("$walltime" "$offsets")
	begin
	((code == 5)) || fail "offsets of $offsets s: exit code $code"
	check "$(id)" "offsets of $offsets s"
	whole "offsets of $offsets s"
done

# killed OFFSET begins the room, or resumes it, and kills it when it has printed some events.
killed() {
	: >out
	"$walltime" "$1" "$moot" run ${begun:+--room "$begun"} --headless --no-input -o jsonl </dev/null >out 2>err &
	local pid=$!
	finish+=("kill -9 $pid 2>/dev/null")
	until (($(wc -l <out) > 8)) || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.05
	done
	{
		kill -9 "$pid" # and with it what it traces
		wait "$pid"
	} 2>>killed || true
	cat out >>acked
}

fresh
begun=
for offset in 0 -86400 315360000; do
	killed "$offset"
	begun=$(id)
	[[ -n $begun ]] || fail "an offset of $offset s: no room has begun"
	check "$begun" "an offset of $offset s"
done
complete "$begun" 'after all offsets'
! grep -a '"type":"room.stopped"' exported | grep -qi duration || fail 'a limit of time ended the room'
ok 'rooms had all their turns while the wall clock jumped by up to ten years'
