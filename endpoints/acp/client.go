package acp

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/inflight"
	"github.com/folkmoot/moot/endpoints/subprocess"
)

// A client is the connection to one process of the agent.
type client struct {
	*conn
	cfg     Config
	dir     string // absolute
	words   func() string
	signals *inflight.Queue
	redact  func(string) string
	ready   chan struct{} // closed when the agent has answered initialize

	mu        sync.Mutex
	begun     bool             // initialize was sent
	agent     initializeResult // set before ready is closed
	refused   error            // why initialize failed; set before ready is closed
	session   *session         // the current one, or nil
	opening   bool             // a session is being opened whose id is not yet known
	left      map[string]bool  // ids of sessions that are not used any more
	foreign   map[string]bool  // ids of other sessions that were reported
	signedOut bool             // the agent has said so
	turn      *turn            // in flight, from the prompt to its end; or nil
}

var _ subprocess.Connection = (*client)(nil)

func newClient(cfg Config, l subprocess.Link) *client {
	c := &client{
		conn: newConn(l.Stdin, cfg), cfg: cfg, dir: cfg.dir(), words: l.Stderr, signals: l.Signals, redact: cfg.redactor(),
		ready: make(chan struct{}), left: map[string]bool{}, foreign: map[string]bool{},
	}
	c.peer = c
	return c
}

// exitError returns the error of an agent that can never answer.
func (c *client) exitError(what string) error {
	return subprocess.ExitError(what, "see its last words, or try another version of the agent", c.words())
}

// notified handles a notification. Others than these are ignored.
func (c *client) notified(method string, params json.RawMessage) {
	switch method {
	case methodUpdate:
		c.update(params)
	case methodCancelRequest:
		c.withdraw(params)
	case methodAuthStatus:
		c.noteAuth(params)
	}
}

// requested handles a request of the agent.
func (c *client) requested(id json.RawMessage, method string, params json.RawMessage) {
	switch method {
	case methodPermission:
		c.permit(id, params)
	case methodQuestion:
		c.question(id, params)
	default:
		c.refuse(id, codeNoMethod, "no such method: "+endpoint.CleanLine(method, 80))
	}
}

// stray handles a response to no call in progress. A second response means that the
// agent and the client do not agree which turn it is.
func (c *client) stray(id json.RawMessage, ours bool) {
	if !ours {
		c.signals.Violation("unknown_request", "a response to "+endpoint.Quote(string(id))+", which is no request of this seat")
		return
	}
	c.signals.Violation("duplicate_response", "a second response to request "+endpoint.Quote(string(id)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(c.session, "the agent answered twice")
}

// overflowed reports an agent that does not read while it writes.
func (c *client) overflowed() {
	c.signals.Violation("flood", "the agent does not read its input, and more responses wait for it than fit")
}

// unreadable fails the turn in flight, of whose answer the line may be a part.
func (c *client) unreadable(f *fault) {
	c.mu.Lock()
	t := c.turn
	if t != nil {
		t.fail(f)
	}
	c.mu.Unlock()
	if t != nil || f.rule != "noise" { // an agent may print what it likes while it starts
		c.signals.Violation(f.rule, f.text)
	}
}

// leave marks a session that must be replaced before the next turn, and tells the
// room if there is no turn that does. The caller holds c.mu.
func (c *client) leave(s *session, why string) {
	if s == nil || s.leave != "" {
		return
	}
	s.leave = why
	if c.turn == nil {
		c.reportLeft(s)
	}
}

// reportLeft tells the room that the agent has lost what it was told. The caller
// holds c.mu.
func (c *client) reportLeft(s *session) {
	if s.prompted && !s.reported {
		s.reported = true
		c.signals.Put(endpoint.Signal{Kind: endpoint.SignalForgot})
	}
}

// maxForeign bounds the reports of other sessions.
const maxForeign = 8

// ours returns the current session if id is its id. Otherwise the message is
// ignored, and the first one of each other session is a violation. The caller holds
// c.mu.
func (c *client) ours(id, what string) *session {
	switch s := c.session; {
	case s != nil && s.id == id:
		return s
	case c.opening, c.left[id], c.foreign[id], len(c.foreign) >= maxForeign:
		return nil
	}
	c.foreign[id] = true
	c.signals.Violation("other_session", what+" of session "+endpoint.Quote(id)+", which is not the session of this seat")
	return nil
}

// decodeLenient decodes b into v and skips fields of another type: the protocol
// lets a client ignore them.
func decodeLenient(b json.RawMessage, v any) error {
	err := json.Unmarshal(b, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// update handles an update of a session.
func (c *client) update(params json.RawMessage) {
	var u updateParams
	var head struct {
		Kind string `json:"sessionUpdate"`
	}
	if decodeLenient(params, &u) != nil || u.SessionID == "" || decodeLenient(u.Update, &head) != nil {
		c.signals.Violation("bad_update", "an update cannot be read")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.ours(u.SessionID, "an update")
	if s == nil || s.replaying {
		return
	}
	switch head.Kind {
	case updateMode, updateOptions:
		c.noteMode(s, head.Kind, u.Update)
	case updateUsage:
		c.noteUsage(s, u.Update)
	case updateMessage, updateThought, updateToolCall, updateToolNews, updatePlan, updateInfo:
		c.say(s, head.Kind, u.Update)
	} // kinds that are not known are ignored
}

// noteMode notices that the agent has left the mode of the preset. It is put into
// the mode again before the next prompt.
func (c *client) noteMode(s *session, kind string, b json.RawMessage) {
	var mode modeUpdate
	var options optionsResult
	p := c.cfg.Preset
	switch {
	case kind == updateMode && p.Mode != "" && decodeLenient(b, &mode) == nil:
		s.moded = s.moded && mode.Mode == p.Mode
	case kind == updateOptions && p.Option != "" && decodeLenient(b, &options) == nil:
		s.moded = s.moded && options.value(p.Option) == p.Value
	}
}

// say gives an update to the turn in flight.
func (c *client) say(s *session, kind string, b json.RawMessage) {
	t := c.turn
	if t == nil {
		if kind == updateMessage && s.prompted {
			c.signals.Violation("late_update", "a part of a message after the end of its turn")
			c.leave(s, "the agent went on after the end of its turn")
		}
		return
	}
	if !t.take(kind, b) {
		c.signals.Violation("bad_update", "an update of the kind "+kind+" cannot be read")
	}
}
