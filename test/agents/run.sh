#!/usr/bin/env bash
# Runs real agents in a room with a fake language model: no account, no cost. It installs the pinned versions of
# package-lock.json, seats the agents, and checks turns, model calls, tokens, processes and memory.
#
#   test/agents/run.sh [--turns 20] [--agents claude,codex,gemini] [--apart] [--all]
#
#   --turns N      turns of the room
#   --agents LIST  which of claude, codex, gemini, opencode and qwen take part
#   --apart        one room for each agent, one after the other, instead of one room
#   --all          also the tests of permissions, killed processes and secrets, with the same agents
#
# MOOT_AGENTS is the folder that the agents are installed to (1.5 GB; default: a folder below the temporary one).
set -euo pipefail
cd "$(dirname "$0")"

usage() {
	printf '%s\nfix: %s\n' "$1" "see the first lines of test/agents/run.sh" >&2
	exit 2
}

turns=20 agents=claude,codex,gemini apart=false tests='^TestTurns$'
while (($#)); do
	case $1 in
	--turns | --agents)
		(($# > 1)) || usage "$1 needs a value"
		declare "${1#--}=$2"
		shift
		;;
	--apart) apart=true ;;
	--all) tests= ;;
	*) usage "unknown argument $1" ;;
	esac
	shift
done
for tool in go npm node; do
	command -v $tool >/dev/null || usage "$tool is missing: install Go, and Node.js with npm"
done

export MOOT_AGENTS=${MOOT_AGENTS:-${TMPDIR:-/tmp}/moot-agents}
mkdir -p "$MOOT_AGENTS"
if ! cmp -s package-lock.json "$MOOT_AGENTS/installed.json"; then
	cp package.json package-lock.json "$MOOT_AGENTS"
	# The lock file pins what Linux on x86-64 needs; npm ci refuses one that lacks the packages of other systems. No
	# package runs a script of its own, but for opencode's choice of its binary.
	npm install --prefix "$MOOT_AGENTS" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	node "$MOOT_AGENTS/node_modules/opencode-ai/postinstall.mjs"
	cp package-lock.json "$MOOT_AGENTS/installed.json"
fi
exec go test . -count=1 -timeout 2h -v -run "$tests" -args -turns "$turns" -agents "$agents" -apart="$apart"
