package roomcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	agentcheck "github.com/folkmoot/moot/endpoints/check"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
)

// newEndpointCmd holds what concerns the ways to reach agents.
func newEndpointCmd(a *commands) *cobra.Command {
	return a.Group(&cobra.Command{Use: "endpoint", Short: "Check how agents are reached"}, newEndpointCheckCmd(a))
}

func newEndpointCheckCmd(a *commands) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "check -- COMMAND [ARG...]",
		Short: "Run an agent as a room does, and report which requirements it meets",
		Long: "check starts COMMAND and speaks the stdio frames with it (docs of `kind: ndjson`):\n" +
			"answers, odd texts, long prompts, limits, cancellation, and how it ends. Each\n" +
			"requirement is reported with the observation and a fix.",
		Example: "  moot endpoint check -- python3 agent.py",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.checkEndpoint(cmd.Context(), args, timeout) },
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 60*time.Second, "how long one answer may take")
	return cmd
}

// A requirement of agents, and what came of it.
type requirement struct {
	Name     string `json:"name"`
	Asks     string `json:"asks"`
	OK       bool   `json:"ok"`
	Optional bool   `json:"optional,omitempty"`
	Seen     string `json:"seen,omitempty"`
	Fix      string `json:"fix,omitempty"`
	MS       int64  `json:"ms"`
}

func (a *commands) checkEndpoint(ctx context.Context, command []string, timeout time.Duration) error {
	var requirements []requirement
	var failed error // to write
	done := func() {}
	defer func() { done() }()
	err := agentcheck.Run(ctx, agentcheck.Config{
		Timeout: timeout,
		Open: func() (agentcheck.Endpoint, error) {
			return a.Wiring().StartAgent(ctx, command)
		},
		Begin: func(name, requires string) { done = a.Working(name + ": the agent " + requires) },
		Report: func(r agentcheck.Result) {
			done()
			t := requirement{r.Name, r.Requires, r.OK, r.Optional, r.Detail, r.Fix, r.Took.Milliseconds()}
			requirements = append(requirements, t)
			switch a.Format { // one by one: some take seconds
			case app.FormatTable:
				a.printRequirement(a.Stdout, t)
			case app.FormatJSONL:
				failed = errors.Join(failed, a.Emit(t, nil))
			}
		},
	})
	if len(requirements) > 0 && a.Format == app.FormatJSON {
		failed = a.Emit(requirements, nil)
	}
	return cmp.Or(failed, err)
}

func (a *commands) printRequirement(w io.Writer, t requirement) {
	mark := a.Paint(w, app.StyleGood, "ok      ")
	switch {
	case !t.OK && t.Optional:
		mark = a.Paint(w, app.StyleWarn, "optional")
	case !t.OK:
		mark = a.Paint(w, app.StyleError, "FAILED  ")
	}
	fmt.Fprintf(w, "%s  %-14s %s (%d ms)\n", mark, t.Name, t.Asks, t.MS)
	if !t.OK {
		fmt.Fprintf(w, "          seen: %s\n          fix:  %s\n", strings.TrimSpace(term.Line(t.Seen)), term.Line(t.Fix))
	}
}
