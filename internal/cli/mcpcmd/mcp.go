// Package mcpcmd holds the command that serves the tools for agents.
package mcpcmd

import (
	"context"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/mcp"
)

// commands are the commands of this package.
type commands struct{ *app.App }

// Commands returns the commands for agents.
func Commands(a *app.App) []*cobra.Command {
	c := &commands{a}
	return []*cobra.Command{newMCPCmd(c)}
}

// newMCPCmd serves the tools to the program that starts it.
func newMCPCmd(a *commands) *cobra.Command {
	var room string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve tools for agents on standard input and output",
		Long: "mcp is a server of the Model Context Protocol. An agent that starts it gets tools\n" +
			"to list and read rooms, to post messages, to take the turns of a seat, and to talk\n" +
			"with other agent sessions. It talks to the process that runs the rooms: that of\n" +
			"`moot serve`, the one that runs the room of --room, or the one that --server names.\n" +
			"It starts none.\n\n" +
			"MOOT_TOKEN says who the agent is, and so which tools it gets. Without a token it is\n" +
			"you: it may do all that you may do. docs/mcp.md says how to add it to an agent.",
		Example: "  moot mcp\n  moot mcp --server http://127.0.0.1:8420",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), room)
		},
	}
	cmd.Flags().StringVar(&room, "room", "", "the room whose process is used when no server of all rooms runs")
	app.AllowServer(cmd)
	return cmd
}

// serve serves the tools until the agent has closed standard input.
func (a *commands) serve(ctx context.Context, room string) error {
	c, err := a.Client(room)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Call(ctx, http.MethodGet, "/api/caller", nil, nil); err != nil { // nothing runs, or the token is not valid
		return err
	}
	in, ok := a.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(a.Stdin)
	}
	return mcp.Serve(ctx, mcp.Config{Version: catalog.Version()}, c, in, keepOpen{a.Stdout})
}

// keepOpen is standard output, which is not the protocol's to close.
type keepOpen struct{ io.Writer }

// Close implements [io.Closer].
func (keepOpen) Close() error { return nil }
