#!/bin/sh
# An agent in plain shell: one request a line on stdin, one answer a line on stdout. See docs/agents.md.
# It opens with the plan's steps and, when it is asked for the outcome, closes with a verdict.
set -eu
plan=$1
steps=$(grep -c '^[0-9][0-9]*\.' "$plan")
drops=$(grep -i 'drop' "$plan" | sed -n 's/^\([0-9][0-9]*\)\..*/\1/p' | head -n 1)
turns=0

# field NAME prints the text of a field of the request in $line.
field() {
	printf '%s\n' "$line" | sed -n 's/.*"'"$1"'":"\([^"\\]*\).*/\1/p'
}

# say TEXT CONFIDENCE answers; the texts here need no escaping.
say() {
	printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"%s","reason":"","confidence":%s}\n' \
		"$(field request_id)" "$1" "$2"
}

# bid SCORE REASON says how much it wants the next turn.
bid() {
	printf '{"type":"desktop.bid.response","request_id":"%s","status":"ok","draft_message":"","reason":"%s","bid":%s}\n' \
		"$(field request_id)" "$2" "$1"
}

while IFS= read -r line; do
	case $line in
	*'"type":"desktop.bid.request"'*)
		case $turns:$(field remote_message) in
		0:*) bid 0.8 "nobody has opened the plan yet" ;;
		*@codebase*) bid 0.9 "asked for the outcome" ;;
		*) bid 0.1 "nothing to add" ;;
		esac
		;;
	*'"type":"desktop.local_prompt.request"'*)
		turns=$((turns + 1))
		if [ "$turns" -eq 1 ]; then
			say "The plan has $steps steps and step $drops cannot be undone. @dba: how long does step 2 hold its lock?" 0.9
		else
			say "No-go as it stands: step 2 in batches, step 4 with SELECT only, step $drops in a release of its own. With these three changes it is a go." 0.9
		fi
		;;
	esac
done
