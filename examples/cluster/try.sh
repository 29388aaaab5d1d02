#!/usr/bin/env bash
# Three machines on this one: each is a process of `moot serve --cluster` with a data folder of its own. Begins rooms
# on one, posts through another, kills the machine that runs a room, posts on, starts it again, and checks each room.
# Ends with 0 if every acknowledged message is in its room once and every chain of hashes is intact.
set -euo pipefail
cd "$(dirname "$0")"
moot=${MOOT:-$(cd ../.. && pwd)/moot}
if [[ ! -x $moot ]] || ! "$moot" help cluster >/dev/null 2>&1; then # missing, or without the command cluster
	(cd ../.. && go build -o "$moot" ./cmd/moot)
fi

work=$(mktemp -d)
declare -A process
end() { # nothing is left behind, also after Ctrl-C
	trap - EXIT
	local pid
	for pid in "${process[@]}"; do kill -9 "$pid" || true; done 2>/dev/null
	{ wait; } 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
unset MOOT_LOG MOOT_TOKEN

say() { printf '%3ds  %s\n' "$SECONDS" "$*"; }
fail() {
	say "FAILED: $*"
	tail -n 5 "$work"/*.err
	exit 1
}
on() { "$moot" --data "$work/$1" "${@:2}"; } # NAME COMMAND: a command on a machine

again() { # COMMAND...: repeat a command that may come while leaders are elected
	local try
	for try in {1..20}; do
		if "$@" 2>"$work/last.err"; then return; fi
		sleep 0.5
	done
	cat "$work/last.err" >&2
	return 1
}

free() { # the first of three ports on which nothing listens
	local first port
	while first=$((10000 + RANDOM % 20000)); do
		for port in "$first" $((first + 1)) $((first + 2)); do
			if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue 2; fi
		done
		echo "$first"
		return
	done
}

start() { # NAME...: start machines and wait until they are ready
	local name
	for name in "$@"; do
		: >"$work/$name.url"
		"$moot" --data "$work/$name" serve --cluster "$work/keys/$name" --listen 127.0.0.1:0 >"$work/$name.url" 2>"$work/$name.err" &
		process[$name]=$!
	done
	for name in "$@"; do
		until [[ -s $work/$name.url ]]; do
			kill -0 "${process[$name]}" 2>/dev/null || fail "$name has ended"
			sleep 0.1
		done
	done
}

declare -A acknowledged
post() { # NAME ROOM TEXT: post on a machine until it is acknowledged. The id makes it safe to repeat
	again on "$1" post "$2" "$3" --as ann --id "m$RANDOM$RANDOM" >/dev/null || fail "$1 takes no message for $2"
	acknowledged[$2]+="$3"$'\n'
}

answered() { # NAME ROOM N: wait until the agents have had N turns
	until [[ $(on "$1" transcript export "$2" -o md 2>/dev/null | grep -c '^### \\#') -ge $3 ]]; do
		((SECONDS < 300)) || fail "$2 has fewer than $3 turns"
		sleep 0.2
	done
}

owner() { # NAME ROOM: the machine that runs the room, as NAME says
	local at name
	at=$(again on "$1" ls -o jsonl | grep "$2" | sed 's/.*"node":"\([^"]*\)".*/\1/')
	for name in one two three; do
		if grep -q "^node *$at," "$work/$name.err"; then echo "$name"; fi
	done
}

"$moot" cluster init "$work/keys" one=127.0.0.1:$(free) two=127.0.0.1:$(free) three=127.0.0.1:$(free) -q >/dev/null
start one two three
say "three machines keep all rooms together: one, two and three"

rooms=()
for i in 1 2 3; do
	rooms+=("$(again on one run room.yaml --detach -q)")
done
for room in "${rooms[@]}"; do
	post two "$room" "Message 1, @iris: do you hear me?"
	answered one "$room" 1
done
say "${#rooms[@]} rooms were begun through one; a message through two was answered in each"

dead=$(owner one "${rooms[0]}")
dead=${dead:-one} # a room that rests for a minute is at no machine
left=()
for name in one two three; do [[ $name == "$dead" ]] || left+=("$name"); done
kill -9 "${process[$dead]}"
{ wait "${process[$dead]}" || true; } 2>/dev/null
killed=$SECONDS
say "$dead, which runs the first room, was killed"
for room in "${rooms[@]}"; do
	post "${left[0]}" "$room" "Message 2, @otto: is $dead away?"
	answered "${left[1]}" "$room" 2
done
say "all rooms go on without $dead, $((SECONDS - killed)) s later: the first one at $(owner "${left[0]}" "${rooms[0]}")"

start "$dead"
for room in "${rooms[@]}"; do
	post "$dead" "$room" "Message 3, @iris: is $dead back?"
	answered "${left[0]}" "$room" 3
done
say "$dead is back, and messages through it are answered"

for room in "${rooms[@]}"; do
	again on "$dead" transcript verify "$room" >"$work/verified" || fail "the chain of $room is broken"
	again on "$dead" transcript export "$room" -o md >"$work/room.md"
	while IFS= read -r text; do
		[[ -z $text || $(grep -cxF -- "$text" "$work/room.md") -eq 1 ]] || fail "$room has not once: $text"
	done <<<"${acknowledged[$room]}"
	say "$(cut -d, -f1 "$work/verified"); every acknowledged message is there once"
done

for name in one two three; do kill "${process[$name]}"; done
for name in one two three; do
	wait "${process[$name]}" || true # the last one may lack a majority for its rooms; nothing is lost then
	unset "process[$name]"
done
say "all machines have ended"
