package moot

import _ "embed"

// Runbook is AGENTS.md: how an agent session that already runs takes a seat of a room.
//
//go:embed AGENTS.md
var Runbook string
