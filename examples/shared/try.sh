#!/bin/sh
# Two owners on one machine: a relay, an invite, a share and a room, each in its
# own process. Prints the transcript.
set -eu
cd "$(dirname "$0")"
moot=${MOOT:-$(cd ../.. && pwd)/moot}
if [ ! -x "$moot" ] || ! "$moot" help share >/dev/null 2>&1; then # missing, or without the command share
	(cd ../.. && go build -o "$moot" ./cmd/moot)
fi

work=$(mktemp -d)
relay= share=
trap 'kill $share $relay 2>/dev/null || true; wait; rm -rf "$work"' EXIT INT TERM
unset MOOT_RELAY_URL
ann() { env MOOT_CONFIG="$work/ann.yaml" "$moot" --data "$work/ann" "$@"; }
bob() { env MOOT_CONFIG="$work/bob.yaml" "$moot" --data "$work/bob" "$@"; }
: >"$work/ann.yaml"
: >"$work/bob.yaml"
line() { # wait for the first line of a file
	until [ -s "$1" ]; do sleep 0.05; done
	head -n 1 "$1"
}

# The relay admits only these two devices.
"$moot" relay --listen 127.0.0.1:0 --allow "$(ann peers self | head -n 1)" --allow "$(bob peers self | head -n 1)" >"$work/url" &
relay=$!
url=$(line "$work/url")

# Ann invites Bob. On one machine there is no attacker in between, so the digits are not compared.
env MOOT_CONFIG="$work/ann.yaml" "$moot" --data "$work/ann" invite --auto --relay "$url" --name ann >"$work/invite" &
invite=$!
line "$work/invite" | bob join --yes --name bob
wait $invite

# Each device allows only the other.
cat >"$work/ann.yaml" <<EOF
profiles:
  - name: orchestrator
    allowSharedAgentCalls: true
    allowedSharedDeviceIds: [$(bob peers self | head -n 1)]
EOF
cat >"$work/bob.yaml" <<EOF
profiles:
  - name: reviewer
    endpoint: {kind: ndjson, command: [python3, $PWD/agents/pair.py, answers]}
    allowSharedAgentCalls: true
    allowedSharedDeviceIds: [$(ann peers self | head -n 1)]
EOF

env MOOT_CONFIG="$work/bob.yaml" "$moot" --data "$work/bob" share >"$work/shared" &
share=$!
line "$work/shared" >/dev/null

code=0
ann run room.yaml --headless || code=$?
[ $code -eq 5 ] # the room ended at its turn limit
ann transcript export "$(ann ls -o jsonl | sed 's/.*"room":"\([^"]*\)".*/\1/')" -o md
