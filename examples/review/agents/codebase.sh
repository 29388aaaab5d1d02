#!/bin/sh
# An agent in plain shell: one request a line on stdin, one answer a line on stdout. See docs/agents.md.
# It first lists the steps of the plan, gives a verdict when it is asked for the outcome, and passes otherwise.
set -eu
plan=$1
opened= closed=

# step PATTERN prints the number of the first step that matches.
step() {
	sed -n "/$1/s/^\([0-9][0-9]*\)\..*/\1/p" "$plan" | head -n 1
}
steps=$(grep -c '^[0-9][0-9]*\.' "$plan")
drop=$(step '[Dd][Rr][Oo][Pp]')
bulk=$(step '[0-9] rows')
grant=$(step 'GRANT ALL')

# field NAME prints the text of a field of the request in $line, up to its first escape.
field() {
	printf '%s\n' "$line" | sed -n 's/.*"'"$1"'":"\([^"\\]*\).*/\1/p'
}

# say TEXT answers; the texts here need no escaping.
say() {
	printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"%s","reason":"","confidence":0.9}\n' \
		"$(field request_id)" "$1"
}

# pass REASON answers that the agent passes.
pass() {
	printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"","outcome":"passed","reason":"%s"}\n' \
		"$(field request_id)" "$1"
}

# bid SCORE REASON answers how much the agent wants the next turn.
bid() {
	printf '{"type":"desktop.bid.response","request_id":"%s","status":"ok","draft_message":"","reason":"%s","bid":%s}\n' \
		"$(field request_id)" "$2" "$1"
}

open() {
	opened=yes
	text="The plan has $steps steps"
	[ -z "$drop" ] || text="$text, and step $drop cannot be undone"
	[ -z "$bulk" ] || text="$text. @dba: how long does step $bulk hold its lock?"
	say "$text"
}

verdict() {
	closed=yes
	changes=
	[ -z "$bulk" ] || changes="$changes; step $bulk in batches"
	[ -z "$grant" ] || changes="$changes; step $grant with SELECT only"
	[ -z "$drop" ] || changes="$changes; step $drop in a release of its own"
	if [ -n "$changes" ]; then
		say "No-go as it stands. It is a go with these changes: ${changes#; }."
	else
		say "Go: nothing in the plan stands against it."
	fi
}

while IFS= read -r line; do
	asked=no
	case $(field remote_message) in *@codebase*) asked=yes ;; esac
	case $line in
	*'"type":"desktop.bid.request"'*)
		case $opened:$asked:$closed in
		:*) bid 0.8 "nobody has opened the plan yet" ;;
		yes:yes:) bid 0.9 "asked for the outcome" ;;
		*) bid 0.1 "nothing to add" ;;
		esac
		;;
	*'"type":"desktop.local_prompt.request"'*)
		case $opened:$asked:$closed in
		:*) open ;;
		yes:yes:) verdict ;;
		*) pass "nothing to add" ;;
		esac
		;;
	esac
done
