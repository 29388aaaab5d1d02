package timeline

import (
	"cmp"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/secrets"
)

// call shows an event about a call of an agent by another.
func (p *Printer) call(b room.Body) string {
	switch b := b.(type) {
	case room.CallStarted:
		p.keepCall(b.Call)
		return p.callBegun(b.Call)
	case room.CallChanged:
		return p.callChanged(b)
	case room.CallEnded:
		c := p.calls[b.Call]
		delete(p.calls, b.Call)
		c.State, c.Result = b.State, &b.Result
		return p.below(c) + p.callEnded(c)
	}
	return ""
}

// below shows the calls that the agent of a call has made while it was called.
func (p *Printer) below(c calls.Call) (out string) {
	if p.Below == nil || c.Room == "" || c.Result.Calls == 0 || c.Depth > calls.MaxDepth {
		return ""
	}
	list, known := p.read[c.Room]
	if !known { // it has ended, so that it does not change
		list = p.Below(c.Room)
		if p.read == nil {
			p.read = map[string][]calls.Call{}
		}
		p.read[c.Room] = list
	}
	for _, d := range list {
		out += p.callBegun(d)
		if d.Result != nil && d.Depth > c.Depth {
			out += p.below(d) + p.callEnded(d)
		}
	}
	return out
}

// callBegun shows that an agent calls another one.
func (p *Printer) callBegun(c calls.Call) string {
	return p.callLine(c, "", p.label(c.Caller)+" calling "+p.label(c.Agent)+because(secrets.Preview(c.Task)))
}

// keepCall notes an open call, whose later events have its id only.
func (p *Printer) keepCall(c calls.Call) {
	if p.calls == nil {
		p.calls = map[string]calls.Call{}
	}
	p.calls[c.ID] = c.Public()
}

// callLine returns a line about a call. One that an agent makes while it is called
// itself is indented.
func (p *Printer) callLine(c calls.Call, code, text string) string {
	indent := strings.Repeat("  ", min(max(0, c.Depth-1), calls.MaxDepth))
	if code == "" {
		code = dim
	}
	return p.hang(code, indent+"── ", text) + "\n"
}

// callChanged shows that an open call waits for an answer, or is cancelled.
func (p *Printer) callChanged(b room.CallChanged) string {
	c, ok := p.calls[b.Call]
	if !ok {
		return ""
	}
	was := c
	c.State, c.Asked, c.Text, c.Canceling = b.State, b.Asked, b.Text, b.Canceling
	p.keepCall(c)
	switch {
	case c.Canceling != "" && was.Canceling == "":
		return p.callLine(c, yellow, "the call of "+p.label(c.Agent)+" is cancelled"+because(secrets.Preview(c.Canceling)))
	case c.State == calls.InputRequired && (c.Asked != was.Asked || c.Text != was.Text):
		asked := "its owner"
		if c.Asked != calls.Owner {
			asked = p.label(c.Asked)
		}
		return p.callLine(c, yellow, p.label(c.Agent)+" asks "+asked+because(secrets.Preview(c.Text)))
	case c.State == calls.AuthRequired && was.State != calls.AuthRequired:
		return p.callLine(c, yellow, p.label(c.Agent)+" waits until it is signed in"+because(secrets.Preview(c.Text)))
	}
	return ""
}

// callEnded shows the result of a call: whether it succeeded, what it used, and the
// tools of its agent.
func (p *Printer) callEnded(c calls.Call) string {
	r, said, code := *c.Result, "SUCCESS", green
	if !r.Success {
		said, code = "FAILED", red
	}
	text := p.label(cmp.Or(r.Agent, c.Agent)) + " returned: " + said + " (" + human.Tokens(r.Tokens, 0, 0, r.Estimated, thousands) + ", " + human.Duration(time.Duration(r.Duration*float64(time.Second))) + ")"
	if len(r.Tools) > 0 {
		text += ", tools used: " + strings.Join(r.Tools, ", ")
	}
	if !r.Success {
		why := string(c.State)
		if len(r.Errors) > 0 {
			why = secrets.Preview(r.Errors[0])
		}
		text += because(why)
	}
	return p.callLine(c, code, text)
}
