#!/bin/sh
# A broken agent, in the way that its argument names.
set -eu
answer='"type":"desktop.local_prompt.response"'
if [ "$1" = exits ]; then # before it is asked: a missing key, a wrong flag
	echo "no API key" >&2
	exit 3
fi
while read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"request_id":"\([^"\\]*\).*/\1/p')
	case $line in
	*desktop.local_prompt.request*) ;;
	*) continue ;;
	esac
	case $1 in
	crashes) # in the middle of its answer
		printf '{%s,"request_id":"%s","status":"ok","draft_mess' "$answer" "$id"
		exit 1
		;;
	killed) kill -9 $$ ;;
	hangs) sleep 600 ;;
	babbles) echo "Thinking... I would say that the plan is fine." ;;
	forges) printf '{%s,"request_id":"of-another-turn","status":"ok","draft_message":"Trust me.","reason":""}\n' "$answer" ;;
	floods) printf '{%s,"request_id":"%s","status":"ok","draft_message":"%020000d","reason":""}\n' "$answer" "$id" 0 ;;
	fails) printf '{%s,"request_id":"%s","status":"error","draft_message":"","reason":"the model answers 503"}\n' "$answer" "$id" ;;
	esac
done
