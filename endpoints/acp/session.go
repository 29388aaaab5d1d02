package acp

import (
	"context"
	"errors"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// A session is a conversation that the agent remembers. It may outlive the process
// that opened it. The client that uses it guards it with its lock.
type session struct {
	id         string
	prompted   bool   // it has got a prompt, so that leaving it is forgetting
	instructed bool   // it has got the instructions
	moded      bool   // it is in the preset's mode
	replaying  bool   // its updates repeat earlier turns
	leave      string // why it must be replaced before the next turn; "" if it need not
	reported   bool   // the room was told that it is left

	used, size int64 // tokens of its context, as the agent last said; 0 is unknown
	cost       int64 // of all its turns, as the agent last said, in millionths of a dollar
	counted    int64 // used at the end of the latest turn
	charged    int64 // cost at the end of the latest turn
	priced     bool  // a cost was stated since then
}

// fullPercent is the part of the context at which a session is replaced.
const fullPercent = 80

// full reports whether the next prompt may not fit.
func (s *session) full() bool {
	return s.size > 0 && s.used*100 >= s.size*fullPercent
}

// open returns the session for the next prompt: the current one, else that of an
// earlier process if the agent can restore it, else a new one. forgot says that
// the agent has lost what it was told and the room does not know. Errors are those
// of conn.call and *problem.Error.
func (c *client) open(ctx context.Context, earlier *session) (s *session, forgot bool, err error) {
	if err := c.initialize(ctx); err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	s = c.session
	leaves := s != nil && s.leave != ""
	c.mu.Unlock()
	switch {
	case leaves:
		earlier = s
		c.drop(s, func(params sessionOnly) {
			_, _ = c.begin(ctx, methodClose, params, func(response) {}) // its error is that of the next request too
		})
		s, err = c.newSession(ctx)
	case s == nil && earlier != nil && earlier.prompted && earlier.leave == "":
		s, err = c.restore(ctx, earlier)
	case s == nil:
		s, err = c.newSession(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	forgot = earlier != nil && earlier.prompted && !earlier.reported && !s.prompted
	moded := s.moded
	c.mu.Unlock()
	if !moded {
		err = c.setMode(ctx, s)
	}
	return s, forgot, err
}

// initialize asks the agent for its version and capabilities. It sends one request
// for a process, however often it is called, because agents refuse a second.
func (c *client) initialize(ctx context.Context) error {
	c.mu.Lock()
	begun := c.begun
	c.begun = true
	c.mu.Unlock()
	if !begun {
		params := initializeParams{ProtocolVersion: protocolVersion, Client: implementation{Name: "moot", Version: c.cfg.Version}}
		if _, err := c.begin(ctx, methodInitialize, params, c.initialized); err != nil {
			c.mu.Lock()
			c.begun = false
			c.mu.Unlock()
			return err
		}
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// initialized takes the response to initialize.
func (c *client) initialized(r response) {
	var got initializeResult
	err := r.decode(methodInitialize, &got)
	if err == nil && got.ProtocolVersion != protocolVersion {
		err = faultf("bad_version", endpoint.ErrProtocol, "it speaks version %d of the Agent Client Protocol, not %d", got.ProtocolVersion, protocolVersion).problem()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent, c.refused = got, err
	close(c.ready)
}

// newSession opens a session and makes it the current one. If ctx ends before the
// response, the late session is closed.
func (c *client) newSession(ctx context.Context) (*session, error) {
	defer c.setOpening()()
	var got sessionResult
	late := func(r response) {
		var got sessionResult
		if r.decode(methodNew, &got) == nil && got.SessionID != "" {
			c.drop(&session{id: got.SessionID}, c.askClose)
		}
	}
	if err := c.call(ctx, methodNew, c.sessionParams(""), &got, late); err != nil {
		return nil, err
	}
	if got.SessionID == "" {
		return nil, faultf("bad_result", endpoint.ErrProtocol, "session/new gave no session id").problem()
	}
	s := &session{id: got.SessionID}
	c.setSession(s)
	return s, nil
}

// restore continues the session of an earlier process, or opens a new one if the
// agent cannot do that or refuses.
func (c *client) restore(ctx context.Context, earlier *session) (*session, error) {
	method := c.restoreMethod()
	if method == "" {
		return c.newSession(ctx)
	}
	s := &session{id: earlier.id, prompted: true, instructed: earlier.instructed, replaying: true, used: earlier.used, size: earlier.size, cost: earlier.cost, counted: earlier.counted, charged: earlier.charged}
	c.setSession(s)
	err := c.call(ctx, method, c.sessionParams(s.id), nil, nil)
	c.mu.Lock()
	s.replaying = false
	c.mu.Unlock()
	if err == nil {
		return s, nil
	}
	c.setSession(nil)
	if _, refused := errors.AsType[*rpcError](err); !refused {
		return nil, err
	}
	return c.newSession(ctx)
}

// restoreMethod prefers resume, which does not repeat earlier turns. It is "" if
// the agent can restore no session.
func (c *client) restoreMethod() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch can := c.agent.Capabilities; {
	case can.Sessions.Resume != nil:
		return methodResume
	case can.Load:
		return methodLoad
	}
	return ""
}

func (c *client) sessionParams(id string) sessionParams {
	return sessionParams{SessionID: id, Dir: c.dir, Tools: c.toolServers()}
}

func (c *client) setSession(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = s
}

// setOpening allows updates of a session whose id is not yet known, until done is
// called.
func (c *client) setOpening() (done func()) {
	set := func(v bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.opening = v
	}
	set(true)
	return func() { set(false) }
}

// drop closes a session that is not used any more, if the agent can do that. It
// does not wait for the response.
func (c *client) drop(s *session, send func(sessionOnly)) {
	c.mu.Lock()
	if c.session == s {
		c.session = nil
	}
	c.left[s.id] = true
	can := c.agent.Capabilities.Sessions.Close != nil
	c.mu.Unlock()
	if can {
		send(sessionOnly{SessionID: s.id})
	}
}

// askClose queues a request to close a session.
func (c *client) askClose(params sessionOnly) { c.ask(methodClose, params) }

// setMode puts a session into the mode of the preset. Without it the session gets
// no prompt.
func (c *client) setMode(ctx context.Context, s *session) error {
	p := c.cfg.Preset
	var err error
	switch {
	case p.Mode != "":
		err = c.call(ctx, methodSetMode, modeParams{SessionID: s.id, Mode: p.Mode}, nil, nil)
	case p.Option != "":
		var got optionsResult
		err = c.call(ctx, methodSetOption, optionParams{SessionID: s.id, Option: p.Option, Value: p.Value}, &got, nil)
		if err == nil && got.value(p.Option) != p.Value {
			err = &rpcError{Message: "the option " + p.Option + " is " + endpoint.Quote(got.value(p.Option))}
		}
	}
	if refused, ok := errors.AsType[*rpcError](err); ok {
		return codedError("AGENT-MODE", "the agent cannot be put into the mode "+p.mode()+", in which it asks before it acts: "+c.redact(refused.describe()),
			"install a version of the agent that has this mode, or write command: to run it with its own permissions", endpoint.ErrAgent)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.moded = true
	return nil
}
