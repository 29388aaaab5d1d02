package roomcmd

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/preset"
	"github.com/folkmoot/moot/problem"
)

// A newSeat is a participant of a new room.
type newSeat struct {
	id, name, role, endpoint string
	tools                    bool // it has its own
}

// initAgents writes a room of the named agents.
func (a *commands) initAgents(cmd *cobra.Command, dir string, names []string) error {
	var seats []newSeat
	var missing []error
	taken := map[string]int{}
	for _, name := range names {
		p, ok := preset.Lookup(name)
		if !ok {
			return unknownAgent(cmd, name)
		}
		done := a.Working("looking for " + name)
		found, err := p.Find(cmd.Context())
		done()
		if err != nil {
			missing = append(missing, err)
			continue
		}
		s := newSeat{p.Name, p.Title, roleOf(len(seats)), found.Endpoint, p.Program() != ""}
		if taken[name]++; taken[name] > 1 {
			s.id, s.name = fmt.Sprintf("%s-%d", s.id, taken[name]), fmt.Sprintf("%s %d", s.name, taken[name])
		}
		seats = append(seats, s)
	}
	if len(missing) > 0 {
		return together(missing)
	}
	file := filepath.Join(dir, "room.yaml")
	return a.writeRoom(dir, []newFile{{"room.yaml", roomOf(dir, seats)}}, "next: write the objective in "+file+", then moot run "+file+"\n      moot doctor says whether the agents are signed in")
}

// together is one error for all agents that are missing.
func together(missing []error) error {
	if len(missing) == 1 {
		return missing[0]
	}
	var whats, fixes []string
	for _, err := range missing {
		r := app.ReportOf(err)
		whats, fixes = append(whats, r.What), append(fixes, r.Fix)
	}
	return &problem.Error{Code: "INIT-AGENT", What: strings.Join(whats, "; "), Fix: strings.Join(fixes, "; ")}
}

func unknownAgent(cmd *cobra.Command, name string) error {
	what := fmt.Sprintf("no agent %q", name)
	if near := config.Suggest(name, preset.Names()); near != "" {
		what += "; " + near
	}
	return app.Usagef(cmd, "%s; there are %s. Any other program is written into room.yaml: docs/agents.md", what, strings.Join(preset.Names(), ", "))
}

// roleOf returns the role of the nth agent of a new room, from 0.
func roleOf(n int) string {
	roles := []string{"Proposes a solution, and carries it out", "Reviews what the others propose, and looks for mistakes"}
	if n < len(roles) {
		return roles[n]
	}
	return "Looks for what the others left out"
}

// agentsRoom is a room.yaml with places for its name and its participants.
const agentsRoom = `# Agents of this machine. They work in the folder of this file, and ask you before they act.
#   moot run room.yaml
version: room/v1
%s# Write here what the agents should work on:
objective: |
  Agree on the most useful next step in this folder, and say why.

participants:
%s
# The agent that a message names with @ speaks next, otherwise the agents take turns.
policy:
  use: mention
  settings: {fallback: roundrobin}

limits:
  maxTurns: 12
  toolTurnTimeout: 5m
`

// roomOf returns the room.yaml of a room in dir.
func roomOf(dir string, seats []newSeat) []byte {
	var list strings.Builder
	for _, s := range seats {
		fmt.Fprintf(&list, "  - id: %s\n    name: %s\n    role: %s\n    mode: full_auto\n", s.id, s.name, s.role)
		if s.tools {
			list.WriteString("    allowToolUse: true\n")
		}
		fmt.Fprintf(&list, "    endpoint: %s\n\n", s.endpoint)
	}
	return fmt.Appendf(nil, agentsRoom, nameLine(dir), strings.TrimSuffix(list.String(), "\n"))
}

var roomName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// nameLine names a room after its folder, if a room may have that name.
func nameLine(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil || !roomName.MatchString(filepath.Base(abs)) {
		return ""
	}
	return fmt.Sprintf("name: %q\n", filepath.Base(abs))
}
