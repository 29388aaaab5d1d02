# Shared by the scripts of this folder: a data folder, a room of two scripted agents, and the
# check that a room has every event that moot has printed. $MOOT is the program to test.
set -euo pipefail
name=$(basename "$0" .sh)
short=
[[ ${1-} != --short ]] || short=1
moot=${MOOT:-moot}
work=$(mktemp -d)
finish=()
trap 'for f in "${finish[@]}"; do eval "$f" || true; done; rm -rf "$work"' EXIT
cd "$work"
unset MOOT_SERVER
export HOME=$work/home MOOT_DATA=$work/data XDG_CACHE_HOME=${MOOT_FAULTS_CACHE:-$work/cache}
mkdir -p "$HOME"

ok() { printf 'ok %s: %s\n' "$name" "$*"; }
fail() {
	printf 'FAIL %s: %s\n' "$name" "$*"
	[[ ! -s err ]] || tail -n 5 err
	exit 1
}

# lacking SENTENCE ends the script: the machine cannot do what it needs.
lacking() {
	[[ ${CI-} != true ]] || fail "$*"
	printf 'skip %s: %s\n' "$name" "$*"
	exit 0
}

need_strace() {
	strace -qq -o /dev/null true 2>/dev/null || lacking 'strace is missing or may not trace processes'
}

need_mount() {
	((EUID == 0)) || lacking 'mounting a small disk needs root'
	mkdir -p disk
	mount -t tmpfs -o "size=$1,mode=0700" tmpfs disk 2>/dev/null || lacking 'a disk in memory cannot be mounted'
	finish+=("umount -l '$work/disk'")
}

# room TURNS [DELAY] writes room.yaml.
room() {
	{
		for ((i = 1; i <= $1; i++)); do
			[[ -z ${2-} ]] || echo "delay $2"
			echo "say line $i of a conversation that has to be kept"
		done
	} >lines.txt
	cat >room.yaml <<-END
		version: room/v1
		participants:
		  - {id: A, mode: full_auto, endpoint: {kind: scripted, script: lines.txt}}
		  - {id: B, mode: full_auto, endpoint: {kind: scripted, script: lines.txt}}
		policy: {use: roundrobin}
		limits: {maxTurns: $1}
	END
}

# begin starts the room of room.yaml or, with an id, resumes it, under the command in
# $under. What it prints is acknowledged. The result is in $code.
under=()
begin() {
	code=0
	{ # the outer file gets the shell's word that the process was killed
		"${under[@]}" "$moot" run ${1:+--room "$1"} --headless --no-input -o jsonl </dev/null >out 2>err || code=$?
	} 2>>killed
	cat out >>acked
}

# id prints the id of the room of which events were printed, if any were.
id() { grep -ao '"room":"r_[0-9a-z]*"' acked 2>/dev/null | head -n 1 | cut -d'"' -f4 || true; }

# places prints number and id of the events in a file of lines of JSON.
places() { sed -n 's/^\({"event":\)\{0,1\}{"v":1,"seq":\([0-9]*\),"id":"\([^"]*\)".*/\2 \3/p' "$1" | sort -u; }

# check ROOM WHAT fails unless the room is intact and has every acknowledged event.
check() {
	"$moot" transcript verify "$1" >verified 2>err || fail "$2: the room is damaged"
	"$moot" transcript export "$1" >exported 2>err || fail "$2: the room cannot be exported"
	places acked >printed
	places exported >stored
	local lost
	lost=$(comm -23 printed stored | wc -l)
	((lost == 0)) || fail "$2: $lost acknowledged events are lost"
}

# complete ROOM WHAT checks a room, runs it to its limit, and checks it again.
complete() {
	check "$1" "$2"
	under=()
	begin "$1"
	((code == 5)) || fail "$2: the room ended with $code when it was resumed"
	check "$1" "$2, resumed"
}

# started FILE PID waits until a room in the background has printed some events.
started() {
	until (($(wc -l <"$1") > 8)); do
		kill -0 "$2" 2>/dev/null || fail 'the room has not begun'
		sleep 0.05
	done
}

# fresh begins with an empty data folder.
fresh() {
	rm -rf "${MOOT_DATA:?}" acked out
	: >acked
}
