package coordinator

import (
	"context"
	"iter"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/internal/workspace"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/callcontext"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
)

// A briefing is what the context of a call is made from: the messages of the caller's
// room up to an event.
type briefing struct {
	room    string
	through int64
	call    room.Call
	args    calls.Args
	seated  bool // the called agent has a seat in the caller's room
	dir     string
	people  map[string]bool
}

func (r *Room) briefingOf(c room.Call, dir string) briefing {
	h := briefing{room: r.id, through: r.state.Seq, call: c, dir: dir, people: map[string]bool{room.ActorHost: true}}
	if c.Request != nil {
		h.args = *c.Request
	}
	for _, x := range r.state.Seats {
		h.seated = h.seated || x.ID == c.Agent
		if x.Kind == policy.Human {
			h.people[x.ID] = true
		}
	}
	return h
}

// context makes the context that a call gives to its agent. A call without a filter
// gives none.
func (h briefing) context(ctx context.Context, l Log) (endpoint.CallContext, error) {
	if len(h.args.Context) == 0 {
		return endpoint.CallContext{}, nil
	}
	filter, err := endpoint.ParseContextFilter(h.args.Context)
	if err != nil {
		return endpoint.CallContext{}, err
	}
	in := callcontext.Input{
		Filter: filter, MaxTokens: h.args.ContextTokens(), Caller: h.call.Caller, Person: func(id string) bool { return h.people[id] },
		Now: h.call.At, Events: backwards(ctx, l, h.room, h.through),
	}
	if h.seated {
		in.Called = h.call.Agent
	}
	if in.Now.IsZero() {
		in.Now = time.Now()
	}
	if filter.IncludeWorkspace && h.dir != "" {
		if in.Workspace, err = workspace.Describe(h.dir, filter.WorkspaceFiles); err != nil {
			return endpoint.CallContext{}, err
		}
	}
	made, err := callcontext.Build(in)
	return made.CallContext, err
}

// backwards yields the events of a room up to the one with seq through, newest first.
func backwards(ctx context.Context, l Log, id string, through int64) iter.Seq2[room.Event, error] {
	return func(yield func(room.Event, error) bool) {
		for through > 0 {
			first := max(0, through-page)
			entries, err := l.Read(ctx, id, log.At(first), int(through-first))
			if err != nil {
				yield(room.Event{}, err)
				return
			}
			for i := len(entries) - 1; i >= 0; i-- {
				if !yield(entries[i].Event, nil) {
					return
				}
			}
			through = first
		}
	}
}

// setCall makes the prompt of a called agent that does not know its task yet. The
// message with the task is a part of it, and no line of the room.
func setCall(p *endpoint.Prompt, s *room.State, w room.Window) {
	of := s.Spec.Call
	if of == nil || !w.Full {
		return
	}
	p.Call = &endpoint.Call{Caller: of.Caller, Context: of.Context}
	for _, l := range of.Chain[:max(0, len(of.Chain)-1)] {
		p.Call.Above = append(p.Call.Above, l.Agent)
	}
}

// takeTask moves the task from a message into the prompt, and reports whether it was it.
func takeTask(p *endpoint.Prompt, m room.Message) bool {
	if m.Kind != kinds.Call {
		return false
	}
	if p.Call != nil {
		p.Call.Task, p.Call.Input = m.Text, m.Payload
	}
	return true
}
