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
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/term"
)

// newEndpointCmd holds what concerns the ways to reach agents.
func newEndpointCmd(a *commands) *cobra.Command {
	return a.Group(&cobra.Command{Use: "endpoint", Short: "Check how agents are reached"}, newEndpointCheckCmd(a))
}

func newEndpointCheckCmd(a *commands) *cobra.Command {
	c := &endpointCheck{commands: a}
	cmd := &cobra.Command{
		Use:   "check [--kind KIND] [-- COMMAND [ARG...]]",
		Short: "Run an agent as a room does, and report which requirements it meets",
		Long: "check reaches an agent as `endpoint:` in room.yaml does and sends it prompts:\n" +
			"answers, odd texts, long prompts, limits, cancellation. An agent of kind ndjson is\n" +
			"also asked for bids, and told to end. Each requirement is reported with the\n" +
			"observation and a fix. A model that has a price gets about seven prompts, one of\n" +
			"them with 200,000 characters.",
		Example: "  moot endpoint check -- python3 agent.py\n" +
			"  moot endpoint check --kind acp --agent gemini\n" +
			"  moot endpoint check --kind command -- llm\n" +
			"  moot endpoint check --kind openai --model llama3.2",
		Args: cobra.ArbitraryArgs,
		RunE: c.run,
	}
	c.agent.add(cmd)
	cmd.Flags().DurationVar(&c.timeout, "timeout", 60*time.Second, "how long one answer may take")
	return cmd
}

// startTimeout bounds the start of an agent that is checked. It is the default of
// rooms.
const startTimeout = 2 * time.Minute

// An endpointCheck is `moot endpoint check` with its flags.
type endpointCheck struct {
	*commands
	agent   agentFlags
	timeout time.Duration
}

func (c *endpointCheck) run(cmd *cobra.Command, args []string) error {
	e, err := c.agent.endpoint(cmd, args)
	if err != nil {
		return err
	}
	return c.checkEndpoint(cmd.Context(), e)
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

func (c *endpointCheck) checkEndpoint(ctx context.Context, e config.Endpoint) error {
	var requirements []requirement
	var failed error // to write
	done := func() {}
	defer func() { done() }()
	err := agentcheck.Run(ctx, agentcheck.Config{
		Timeout: c.timeout, Plain: e.Kind != config.KindNDJSON,
		Open: func() (agentcheck.Endpoint, error) {
			ctx, cancel := context.WithTimeout(ctx, startTimeout)
			defer cancel()
			return c.Wiring().StartAgent(ctx, e)
		},
		Begin: func(name, requires string) { done = c.Working(name + ": the agent " + requires) },
		Report: func(r agentcheck.Result) {
			done()
			t := requirement{r.Name, r.Requires, r.OK, r.Optional, r.Detail, r.Fix, r.Took.Milliseconds()}
			requirements = append(requirements, t)
			switch c.Format { // one by one: some take seconds
			case app.FormatTable:
				c.printRequirement(c.Stdout, t)
			case app.FormatJSONL:
				failed = errors.Join(failed, c.Emit(t, nil))
			}
		},
	})
	if len(requirements) > 0 && c.Format == app.FormatJSON {
		failed = c.Emit(requirements, nil)
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
