#!/bin/sh
# An agent of the one-to-one note, with nothing but a shell: it passes on
# how long the last message was. JSON stays on one line, so sed is enough for
# the two fields that are needed.
while IFS= read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/^{"type":"[^"]*","request_id":"\([^"\\]*\)".*/\1/p')
	last=$(printf '%s' "$line" | sed -n 's/.*"remote_message":"\(\([^"\\]\|\\.\)*\)".*/\1/p')
	case $line in
	'{"type":"desktop.local_prompt.request"'*)
		printf '{"type":"desktop.local_prompt.response","request_id":"%s","status":"ok","draft_message":"I was told %s characters."}\n' \
			"$id" "${#last}" ;;
	esac
done
