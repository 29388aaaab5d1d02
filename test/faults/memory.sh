#!/usr/bin/env bash
# Runs rooms in control groups with little memory, from 64 MiB up, first without compiled
# policies and then with them. The kernel may end the process; what it has acknowledged is stored.
# Without control groups the collector of Go gets the limit.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
room 20
fresh
begin # fills the caches, without a limit
complete "$(id)" 'without a limit'
killed=0

# limited MIB runs a room in the control group $group.
limited() {
	: >acked
	echo $(($1 << 20)) >"$group/$file"
	under=(bash -c 'echo $$ >"$group/cgroup.procs" && exec "$@"' limited)
	begin
	((code == 5 || code == 137)) || fail "exit code $code with $1 MiB"
	local ended=$code room_id
	((code == 5)) || ((++killed))
	room_id=$(id)
	[[ -z $room_id ]] || complete "$room_id" "$1 MiB"
	((ended == 5))
}

# compiled runs a room in 64 MiB with compiled policies, in a log that has the policy already.
# The collector of Go gets half of it. A room compiles its policy when it has run for some
# seconds, for later ones.
compiled() {
	room 600 1s
	under=()
	: >acked
	"$moot" run --headless --no-input -o jsonl </dev/null >acked 2>err &
	local pid=$!
	finish+=("kill -9 $pid 2>/dev/null")
	until [[ -n $(find "$XDG_CACHE_HOME" -path '*/policies/*' -not -path '*/.*' -size +8M) ]]; do
		kill -0 "$pid" 2>/dev/null || fail 'the policies were not compiled'
		sleep 0.2
	done
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
	room 20
	export GOMEMLIMIT=32MiB
	limited 64 || limited 64 || limited 64 || fail 'a room needs more than 64 MiB with compiled policies'
}

for file in memory.max memory.limit_in_bytes; do
	parent=/sys/fs/cgroup
	[[ $file == memory.max ]] || parent+=/memory
	export group=$parent/moot-faults-$$
	mkdir "$group" 2>/dev/null || continue
	finish+=("rmdir '$group'")
	[[ -w $group/$file ]] || continue
	steps=({64..256..8})
	[[ -z $short ]] || steps=(64 96 128 256)
	for mib in "${steps[@]}"; do
		fresh
		if limited "$mib"; then
			interpreted="$mib MiB (ended by the kernel $killed times with less)"
			compiled
			ok "a room came to its end in 64 MiB with compiled policies, and without them in $interpreted; no acknowledged event lost"
			exit
		fi
	done
	fail 'a room needs more than 256 MiB'
done
under=()
fresh
GOMEMLIMIT=64MiB begin
((code == 5)) || fail "exit code $code with GOMEMLIMIT=64MiB"
check "$(id)" 'GOMEMLIMIT=64MiB'
ok 'no control group can be made; a room came to its end with GOMEMLIMIT=64MiB'
