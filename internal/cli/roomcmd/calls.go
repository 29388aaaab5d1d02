package roomcmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/log"
)

// newCallsCmd lists the calls of agents by agents.
func newCallsCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calls ROOM",
		Short: "List the calls of agents by agents in a room, with those below them",
		Long: "calls lists the calls that the agents of a room have made, oldest first: the agent, its\n" +
			"caller, the state, the tokens and the seconds that the call has used, the tools that the\n" +
			"agent used, and the beginning of the task. Calls of a called agent are below its own.\n" +
			"Texts are cut to 200 characters, and probable secrets are removed.\n\n" +
			"Each call has a room of its own, which -o json names; `moot show` and `moot transcript`\n" +
			"read it like others. ROOM is the id of a room, the beginning of its id, or its name.",
		Example:           "  moot calls r_01k5...\n  moot calls review -o json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.FindRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.calls(cmd.Context(), id)
		},
	}
	app.AllowServer(cmd)
	return cmd
}

// A madeCall is a call with the calls that its agent has made.
type madeCall struct {
	calls.Call
	Calls []madeCall `json:"calls,omitempty"`
}

// calls lists the calls of a room.
func (a *commands) calls(ctx context.Context, id string) error {
	read, done, err := a.CallReader(id)
	if err != nil {
		return err
	}
	defer done()
	made, err := readCalls(ctx, read, id, 0)
	if err != nil {
		return err
	}
	if len(made) == 0 {
		a.Note("no agent has called another one in %s", id)
	}
	return emitListing(a, made, callTable, flat(made, 0))
}

// readCalls returns the calls of a room with those below them.
func readCalls(ctx context.Context, read app.CallReader, id string, depth int) ([]madeCall, error) {
	list, err := read(ctx, id)
	if err != nil {
		return nil, err
	}
	made := make([]madeCall, len(list))
	for i, c := range list {
		made[i].Call = api.PreviewCall(c)
		if c.Room == "" || depth >= calls.MaxDepth {
			continue
		}
		below, err := readCalls(ctx, read, c.Room, depth+1)
		if err != nil && !errors.Is(err, log.ErrNotFound) { // it was never opened, or is removed
			return nil, err
		}
		if len(below) > 0 {
			made[i].Calls = below
		}
	}
	return made, nil
}

// A callRow is a line of the table.
type callRow struct {
	calls.Call
	depth int
}

// flat returns the rows of a tree, each call before those below it.
func flat(made []madeCall, depth int) (rows []callRow) {
	for _, m := range made {
		rows = append(rows, callRow{m.Call, depth})
		rows = append(rows, flat(m.Calls, depth+1)...)
	}
	return rows
}

var callTable = listing[callRow]{
	head: []string{"CALL", "AGENT", "CALLER", "STATE", "TOKENS", "SECONDS", "TOOLS", "TASK"},
	row: func(c callRow) []string {
		state, tokens, seconds, tools := string(c.State), "-", "-", "-"
		task := c.Task
		if c.Asked != "" {
			state += " of " + c.Asked
		}
		if r := c.Result; r != nil {
			tokens, seconds = human.Rough(strconv.FormatInt(r.Tokens, 10), r.Estimated), fmt.Sprintf("%.1f", r.Duration)
			if len(r.Tools) > 0 {
				tools = cutRunes(strings.Join(r.Tools, ", "), maxToolsCell)
			}
			if len(r.Errors) > 0 {
				task = "(" + r.Errors[0] + ") " + task
			}
		}
		return []string{strings.Repeat("  ", c.depth) + c.ID, c.Agent, c.Caller, state, tokens, seconds, tools, task}
	},
}

// maxToolsCell is the width of the column of tools, in characters.
const maxToolsCell = 32
