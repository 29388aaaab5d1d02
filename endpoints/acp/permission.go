package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// An asked is a permission request or a question that has no answer yet.
type asked struct {
	id        json.RawMessage
	title     string
	options   []permissionOption
	cancelled any                // the result if the turn ends before the answer
	cancel    context.CancelFunc // ends the question to the room
	settled   bool
}

var cancelledOutcome = permissionResult{outcome{Outcome: "cancelled"}}

// permit handles a permission request: it asks the room, while the clock of the
// turn stands. A request outside a turn, or of another session, is cancelled.
func (c *client) permit(id json.RawMessage, params json.RawMessage) {
	var p permissionParams
	if decodeLenient(params, &p) != nil || p.ToolCall.ID == "" {
		c.signals.Violation("bad_permission", "a permission request cannot be read")
		c.refuse(id, codeBadRequest, "the request has no tool call")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, t := c.ours(p.SessionID, "a permission request"), c.turn
	if s == nil || t == nil || t.cancelled || t.failed != nil || t.asked[string(id)] != nil {
		c.answer(id, cancelledOutcome)
		return
	}
	t.toolCall(p.ToolCall, false)
	call := t.calls[p.ToolCall.ID].merged(p.ToolCall)
	if c.cfg.Preset.Titled {
		call = call.titled()
	}
	q, ok := call.permission(c.dir, p.Options)
	q.Diffs = diffsOf(p.ToolCall.Content)
	if !ok {
		c.signals.Violation("bad_permission", "a permission request whose command or files are too long to be shown")
		t.refuse("not allowed: "+q.Title, "it is too long to be shown")
		c.answer(id, cancelledOutcome)
		return
	}
	c.raise(t, &asked{id: id, title: q.Title, options: p.Options, cancelled: cancelledOutcome}, q, c.permitted)
}

// raise puts p to the room, while the clock of the turn stands, and gives the answer
// to then. The caller holds c.mu.
func (c *client) raise(t *turn, a *asked, p endpoint.Permission, then func(*turn, *asked, endpoint.Answer, error)) {
	t.asked[string(a.id)] = a
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(t.ctx)
	release := endpoint.Hold(t.ctx)
	c.signals.CallContext(ctx, endpoint.Signal{Kind: endpoint.SignalPermission, Detail: p.Title, Permission: &p}, func(answer endpoint.Answer, err error) {
		release()
		then(t, a, answer, err)
	})
}

// permitted takes the room's answer to the agent.
func (c *client) permitted(t *turn, a *asked, answer endpoint.Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(t.asked, string(a.id))
	out, allowed := choose(a.options, answer, err)
	if !a.settled && !allowed {
		if answer.Allowed {
			answer.Reason = "the agent offers no permission for one time"
		}
		t.refuse("not allowed: "+cmp.Or(a.title, "an action without a title"), answer.Reason)
	}
	c.settle(a, permissionResult{out})
}

// settle answers a permission request or a question once. The caller holds c.mu.
func (c *client) settle(a *asked, result any) {
	if a.settled {
		return
	}
	a.settled = true
	a.cancel()
	c.answer(a.id, result)
}

// withdraw handles the agent's cancellation of a permission request or a question.
func (c *client) withdraw(params json.RawMessage) {
	var p cancelRequest
	if decodeLenient(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == nil {
		return
	}
	if a := c.turn.asked[string(p.RequestID)]; a != nil && !a.settled {
		a.settled = true
		a.cancel()
		delete(c.turn.asked, string(p.RequestID))
		c.refuse(a.id, codeCancelled, "cancelled")
	}
}

// takeAsked removes and returns the open permission requests and questions.
func (t *turn) takeAsked() []*asked {
	var open []*asked
	for id, a := range t.asked {
		open = append(open, a)
		delete(t.asked, id)
	}
	return open
}

// maxRefused bounds the refusals of a turn that are remembered.
const maxRefused = 8

// refuse records an action that was not allowed, or a question without an answer.
func (t *turn) refuse(what, reason string) {
	if len(t.refused) >= maxRefused {
		return
	}
	if reason != "" {
		what += " (" + endpoint.CleanLine(reason, 200) + ")"
	}
	t.refused = append(t.refused, what)
}

// choose returns the option that stands for the room's answer. An action that is
// allowed once never becomes one that is allowed for ever.
func choose(options []permissionOption, a endpoint.Answer, err error) (out outcome, allowed bool) {
	kinds := []string{rejectOnce}
	switch {
	case err != nil:
		return cancelledOutcome.Outcome, false
	case a.Allowed && a.Always:
		kinds = []string{allowAlways, allowOnce, rejectOnce}
	case a.Allowed:
		kinds = []string{allowOnce, rejectOnce}
	}
	for _, kind := range kinds {
		if i := slices.IndexFunc(options, func(o permissionOption) bool { return o.Kind == kind }); i >= 0 {
			return outcome{Outcome: "selected", Option: options[i].ID}, kind != rejectOnce
		}
	}
	return cancelledOutcome.Outcome, false
}

// Bounds of what the room is asked.
const (
	maxTitle   = 200      // runes
	maxCommand = 64 << 10 // bytes
	maxDetail  = 2_000    // runes
	maxPath    = 4 << 10  // bytes
	maxPaths   = 256
)

// permission returns the question to the room. ok is false if a person would see
// only a part of the command or of the files.
func (call toolCall) permission(dir string, options []permissionOption) (q endpoint.Permission, ok bool) {
	q = endpoint.Permission{
		ID: endpoint.CleanLine(call.ID, 80), Kind: actionOf(call.Kind), Title: endpoint.CleanLine(call.Title, maxTitle), Dir: dir,
		Command: call.line, Argv: call.argv, Detail: call.detail,
	}
	ok = !call.long && len(call.Locations) <= maxPaths
	for _, l := range call.Locations {
		ok = ok && len(l.Path) <= maxPath
		q.Paths = append(q.Paths, l.Path)
	}
	q.Always = slices.ContainsFunc(options, func(o permissionOption) bool { return o.Kind == allowAlways })
	return q, ok
}

// diffsOf returns what an action writes, as far as its content states it.
func diffsOf(content json.RawMessage) (diffs []endpoint.Diff) {
	var blocks []json.RawMessage
	if len(content) == 0 || json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		var d struct {
			Type string `json:"type"`
			Path string `json:"path"`
			Old  string `json:"oldText"`
			New  string `json:"newText"`
		}
		if decodeLenient(b, &d) == nil && d.Type == "diff" && d.Path != "" {
			diffs = append(diffs, endpoint.Diff{Path: d.Path, Old: d.Old, New: d.New})
		}
	}
	return diffs
}

// titled returns the action of an agent that states a command as the title only.
func (call toolCall) titled() toolCall {
	if call.Kind == endpoint.ActionExecute && call.line == "" && len(call.argv) == 0 {
		call.line, call.long = call.Title, call.long || len(call.Title) > maxCommand
	}
	return call
}

var actions = []string{
	endpoint.ActionRead, endpoint.ActionEdit, endpoint.ActionDelete, endpoint.ActionMove, endpoint.ActionSearch,
	endpoint.ActionExecute, endpoint.ActionFetch, endpoint.ActionThink,
}

func actionOf(kind string) string {
	if slices.Contains(actions, kind) {
		return kind
	}
	return endpoint.ActionOther
}

// An input is what a permission request tells of the input of a tool: its command as
// a line or as a list of arguments, and its beginning.
type input struct {
	line   string
	argv   []string
	long   bool // the command is over maxCommand
	detail string
}

func inputOf(b json.RawMessage) (in input) {
	if string(b) != "{}" {
		in.detail = endpoint.CleanLine(string(b[:min(len(b), utf8.UTFMax*maxDetail)]), maxDetail)
	}
	var fields struct {
		Command json.RawMessage `json:"command"`
	}
	switch {
	case decodeLenient(b, &fields) != nil || len(fields.Command) == 0:
	case len(fields.Command) > maxCommand:
		in.long = true
	case json.Unmarshal(fields.Command, &in.line) != nil:
		if json.Unmarshal(fields.Command, &in.argv) != nil {
			in.argv = nil
		}
	}
	return in
}
