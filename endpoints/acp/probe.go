package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/folkmoot/moot/problem"
)

// A Report is what an agent tells without a prompt. The zero Report is that of an
// agent that did not start.
type Report struct {
	Name, Version string        // as the agent states them; "" if it does not
	SignedOut     bool          // its owner has to sign in before it can answer
	Took          time.Duration // until its session was open and in the preset's mode
}

// Probe starts an agent, opens a session, puts it into the preset's mode and closes
// it. The agent gets no prompt, so no model is asked. Probe returns when nothing of
// the agent's process group is left. An agent that is not signed in is no error.
func Probe(ctx context.Context, cfg Config) (Report, error) {
	e := New(cfg)
	began := time.Now()
	err := e.Start(ctx, nil)
	r := Report{Took: time.Since(began)}
	r.Name, r.Version = e.Agent()
	if p := e.supervisor.Latest(); p != nil && err == nil {
		r.SignedOut = p.Conn.isSignedOut()
		p.Conn.drop(e.session, p.Conn.askClose)
	}
	if refused, ok := errors.AsType[*problem.Error](err); ok && refused.Code == codeSignIn {
		r.SignedOut, err = true, nil
	}
	return r, errors.Join(err, e.Close())
}

// An authStatus is a notification of Claude Code, which opens sessions for owners
// who are not signed in, too.
type authStatus struct {
	Status struct {
		Kind string `json:"kind"` // none if the owner is not signed in
	} `json:"authStatus"`
}

func (c *client) noteAuth(params json.RawMessage) {
	var a authStatus
	if decodeLenient(params, &a) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signedOut = a.Status.Kind == "none"
}

func (c *client) isSignedOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signedOut
}
