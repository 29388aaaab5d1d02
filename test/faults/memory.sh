#!/usr/bin/env bash
# Runs rooms in control groups with little memory, from 64 MiB up. The kernel may end the process;
# what it has acknowledged is stored. Without control groups the collector of Go gets the limit.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
room 20
fresh
begin # compiles the policies, without a limit
complete "$(id)" 'without a limit'
killed=0

# limited MIB runs a room in the control group $group.
limited() {
	fresh
	echo $(($1 << 20)) >"$group/$file"
	begin
	((code == 5 || code == 137)) || fail "exit code $code with $1 MiB"
	local ended=$code room_id
	((code == 5)) || ((++killed))
	room_id=$(id)
	[[ -z $room_id ]] || complete "$room_id" "$1 MiB"
	under=(bash -c 'echo $$ >"$group/cgroup.procs" && exec "$@"' limited)
	((ended == 5))
}

for file in memory.max memory.limit_in_bytes; do
	parent=/sys/fs/cgroup
	[[ $file == memory.max ]] || parent+=/memory
	export group=$parent/moot-faults-$$
	mkdir "$group" 2>/dev/null || continue
	finish+=("rmdir '$group'")
	[[ -w $group/$file ]] || continue
	under=(bash -c 'echo $$ >"$group/cgroup.procs" && exec "$@"' limited)
	steps=({64..256..8})
	[[ -z $short ]] || steps=(64 96 128 256)
	for mib in "${steps[@]}"; do
		if limited "$mib"; then
			ok "a room came to its end in $mib MiB; the kernel ended it $killed times with less; no acknowledged event lost"
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
