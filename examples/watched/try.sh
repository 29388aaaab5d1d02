#!/bin/sh
# Bob watches Ann's room from another device: a relay, an invite, the room and
# the spectator, each in its own process. Prints the output of Bob.
set -eu
cd "$(dirname "$0")"
moot=${MOOT:-$(cd ../.. && pwd)/moot}
if [ ! -x "$moot" ] || ! "$moot" help watch >/dev/null 2>&1; then # missing, or without the command watch
	(cd ../.. && go build -o "$moot" ./cmd/moot)
fi

work=$(mktemp -d)
relay= watch=
trap 'kill $watch $relay 2>/dev/null || true; wait; rm -rf "$work"' EXIT INT TERM
unset MOOT_RELAY_URL
export MOOT_CONFIG="$work/config.yaml"
: >"$MOOT_CONFIG"
ann() { "$moot" --data "$work/ann" "$@"; }
bob() { "$moot" --data "$work/bob" "$@"; }
line() { # wait for the first line of a file
	until [ -s "$1" ]; do sleep 0.05; done
	head -n 1 "$1"
}

# The relay admits only these two devices.
"$moot" relay --listen 127.0.0.1:0 --allow "$(ann peers self | head -n 1)" --allow "$(bob peers self | head -n 1)" >"$work/url" &
relay=$!
url=$(line "$work/url")

# Ann invites Bob to watch. The room lists him.
"$moot" --data "$work/ann" invite --auto --grant observer --relay "$url" --name ann >"$work/invite" &
invite=$!
line "$work/invite" | bob join --yes --name bob >&2
wait $invite

# Bob waits for the room and asks a question in it.
"$moot" --data "$work/bob" watch ann --say "@dba, how long does it take?" >"$work/seen" &
watch=$!
ann run room.yaml --headless >&2 || [ $? -eq 5 ] # 5: the limit of one turn was reached
wait $watch
cat "$work/seen"
