#!/bin/sh
# A healthy agent: it says one thing about its topic in each of its turns. See docs/agents.md.
set -eu
topic=$1
n=0
while read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"request_id":"\([^"\\]*\).*/\1/p')
	case $line in
	*desktop.local_prompt.request*) ;;
	*) continue ;;
	esac
	n=$((n + 1))
	case $n in
	1) text="The $topic is as the plan has it." ;;
	2) text="One risk remains in the $topic: nobody has tried to undo it." ;;
	*) text="With a way back, the $topic is ready." ;;
	esac
	printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"%s","reason":"","usage":{"input_tokens":400,"output_tokens":20}}\n' \
		"$id" "$text"
done
