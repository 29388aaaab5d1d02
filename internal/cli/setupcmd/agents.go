package setupcmd

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/acp"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/preset"
)

// An agentReport is what doctor has found out about an agent.
type agentReport struct {
	Where         string `json:"where"`
	Version       string `json:"version,omitempty"`
	Ready         bool   `json:"ready"`
	SignedOut     bool   `json:"signedOut,omitempty"`
	Mode          string `json:"mode,omitempty"`
	CannotEnforce string `json:"cannotEnforce,omitempty"`
	MS            int64  `json:"ms,omitempty"` // until its session was open
}

// checkAgents starts the agents of this machine, all at the same time, and reports
// each when it is ready. It waits until all have ended.
func (e *examination) checkAgents(ctx context.Context, timeout time.Duration) {
	results := make(chan check)
	var starting, missing []string
	for _, p := range preset.All() {
		if p.Name == preset.OpenAI { // there is nothing of it on this machine
			continue
		}
		starting = append(starting, p.Name)
		go func() { results <- e.checkAgent(ctx, p, timeout) }()
	}
	for range len(starting) {
		done := e.Working("starting " + strings.Join(starting, ", "))
		c := <-results
		done()
		starting = slices.DeleteFunc(starting, func(name string) bool { return name == c.Name })
		if c.Result == "" {
			missing = append(missing, c.Name)
		} else if ctx.Err() == nil {
			e.report(c)
		}
	}
	if ctx.Err() == nil && len(missing) > 0 {
		e.report(check{Name: "other agents", Result: checkOK, Detail: "not here: " + strings.Join(inOrder(missing), ", ") + "; `moot init --agent NAME` says how to get one"})
	}
}

// inOrder sorts names of presets as All does.
func inOrder(names []string) []string {
	return slices.DeleteFunc(preset.Names(), func(name string) bool { return !slices.Contains(names, name) })
}

// checkAgent finds an agent and starts it. The check has no result if the machine
// does not have the agent.
func (e *examination) checkAgent(ctx context.Context, p preset.Preset, timeout time.Duration) check {
	c := check{Name: p.Name}
	seat, err := p.Find(ctx)
	switch {
	case errors.Is(err, preset.ErrNoModel):
		c.Result, c.Detail, c.Fix = checkWarn, app.ReportOf(err).What, app.ReportOf(err).Fix
		return c
	case err != nil:
		return c
	}
	c.Agent = &agentReport{Where: seat.Where, Ready: true}
	if p.Name == preset.Ollama {
		c.Result, c.Detail = checkOK, seat.Where
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := e.probe(ctx, p)
	c.judge(p, r, err)
	return c
}

// probe opens a session with an agent in an empty folder.
func (e *examination) probe(ctx context.Context, p preset.Preset) (acp.Report, error) {
	dir, err := os.MkdirTemp("", "moot-doctor-*")
	if err != nil {
		return acp.Report{}, err
	}
	defer os.RemoveAll(dir)
	return e.Wiring().ProbeAgent(ctx, p.Preset, dir)
}

// judge fills in what a probe has found. moot works without the agent, so nothing
// of it is a failure.
func (c *check) judge(p preset.Preset, r acp.Report, err error) {
	a := c.Agent
	a.Version, a.Ready, a.SignedOut, a.MS = r.Version, err == nil && !r.SignedOut, r.SignedOut, r.Took.Milliseconds()
	version := strings.TrimSpace(p.Program() + " " + r.Version)
	switch {
	case err != nil:
		report := app.ReportOf(err)
		c.Result, c.Detail, c.Fix = checkWarn, a.Where+" does not start: "+report.What, cmp.Or(report.Fix, p.Install)
	case r.SignedOut:
		c.Result, c.Detail, c.Fix = checkWarn, version+"; not signed in", p.SignIn
	default:
		a.Mode, a.CannotEnforce = p.Enforces(), p.Limits
		c.Result, c.Detail = checkOK, version+"; ready; "+a.Mode+"; not enforced: "+a.CannotEnforce
	}
}
