package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// TestConformance: to a room, a remote seat is a seat like any other. Agents
// that behave in some way are behind a share; devices that break the protocol
// are written here, envelope by envelope.
func TestConformance(t *testing.T) {
	endpointtest.Run(t, func(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
		if f := rogueOf(s); f != nil {
			return rogueSeat(t, f)
		}
		a := agentOf(s)
		if a == nil {
			return nil // it is about a process's pipes, of which the host sees nothing
		}
		return newPair(t, a).seat
	})
}

func newest(p endpoint.Prompt) string {
	if len(p.CatchUp) == 0 {
		return ""
	}
	return p.CatchUp[len(p.CatchUp)-1].Text
}

func echo(p endpoint.Prompt) endpoint.Reply {
	text := []rune(endpointtest.Answer(newest(p)))
	return endpoint.Reply{Outcome: endpoint.Said, Text: string(text[:min(len(text), p.MaxOutputChars)])}
}

func beside(ctx context.Context, f endpoint.Floor, to, text string) {
	_, _ = f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalMessage, To: to, Detail: text})
}

// agentOf is an agent that behaves as s says.
func agentOf(s endpointtest.Scenario) actor {
	replies := map[endpointtest.Scenario]endpoint.Reply{
		endpointtest.Empty:   {Outcome: endpoint.Said, Text: " \n"},
		endpointtest.Passes:  {Outcome: endpoint.Passed, Reason: "nothing to add"},
		endpointtest.Refuses: {Outcome: endpoint.Refused, Reason: "not mine"},
	}
	if r, ok := replies[s]; ok {
		return func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) { return r, nil }
	}
	gone := fmt.Errorf("%w: exit status 3; goodbye", endpoint.ErrExited)
	var turns atomic.Int32
	switch s {
	case endpointtest.Echo, endpointtest.Bids:
		quarter := 0.25
		return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			if p.Kind == endpoint.Bid {
				return endpoint.Reply{Outcome: endpoint.Passed, Bid: &quarter}, nil
			}
			return echo(p), nil
		}
	case endpointtest.Stated:
		sure := 0.75
		return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			r := echo(p)
			r.Usage, r.Confidence = endpoint.Usage{Known: true, Input: 120, Output: 30}, &sure
			return r, nil
		}
	case endpointtest.Errors:
		return func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{}, fmt.Errorf("%w: out of order", endpoint.ErrAgent)
		}
	case endpointtest.Asides:
		return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			beside(ctx, f, "dba", "psst")
			return echo(p), nil
		}
	case endpointtest.Exits, endpointtest.ExitsHalf:
		return func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{}, gone
		}
	case endpointtest.ExitsAfter:
		return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			if turns.Add(1) > 1 {
				return endpoint.Reply{}, gone
			}
			return echo(p), nil
		}
	case endpointtest.Stubborn:
		return func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			beside(ctx, f, "", "working")
			<-ctx.Done()
			return endpoint.Reply{}, ctx.Err()
		}
	}
	return nil
}

// A rogue is another owner's device that answers as it likes.
type rogue func(n int, q envelope.Envelope, say func(envelope.Envelope))

func rogueOf(s endpointtest.Scenario) rogue {
	good := func(q envelope.Envelope, text string) envelope.Envelope {
		return response(q, body(answer{Status: statusOK, Outcome: endpoint.Said, Text: text}))
	}
	echoed := func(q envelope.Envelope) envelope.Envelope { return good(q, endpointtest.Answer(textOf(q))) }
	aside := func(q envelope.Envelope, text string) envelope.Envelope {
		return envelope.Envelope{ID: q.ID, Type: envelope.Message, Body: body(message{Text: text})}
	}
	first := func(bad func(envelope.Envelope) envelope.Envelope) rogue {
		return func(n int, q envelope.Envelope, say func(envelope.Envelope)) {
			if n == 1 {
				say(bad(q))
				return
			}
			say(echoed(q))
		}
	}
	switch s {
	case endpointtest.Hang:
		return func(n int, q envelope.Envelope, say func(envelope.Envelope)) {
			switch {
			case q.Type == envelope.TurnCancel:
			case n > 1: // as a share whose agent had to be ended: the next turn learns of it
				say(response(q, body(answer{Status: statusError, Code: "exited"})))
			default:
				say(aside(q, "working"))
			}
		}
	case endpointtest.Late:
		return func(n int, q envelope.Envelope, say func(envelope.Envelope)) {
			switch {
			case q.Type == envelope.TurnCancel:
				say(good(q, endpointtest.Answer("first")))
			case n == 1:
				say(aside(q, "working"))
			default:
				say(echoed(q))
			}
		}
	case endpointtest.Duplicate:
		return func(_ int, q envelope.Envelope, say func(envelope.Envelope)) {
			say(echoed(q))
			say(good(q, "and again"))
		}
	case endpointtest.Foreign:
		return func(_ int, q envelope.Envelope, say func(envelope.Envelope)) {
			other := q
			other.ID = "req_of_nobody"
			say(good(other, "smuggled"))
			say(echoed(q))
		}
	case endpointtest.Torn:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return response(q, json.RawMessage(`{"status":"ok","Status":"ok"}`))
		})
	case endpointtest.Oversize:
		return first(func(q envelope.Envelope) envelope.Envelope { return good(q, strings.Repeat("ü", 1001)) })
	case endpointtest.Negative:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return response(q, body(answer{Status: statusOK, Outcome: endpoint.Said, Text: "x", Usage: &usage{Input: -1}}))
		})
	case endpointtest.Flooding:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return response(q, json.RawMessage(`{"status":"perhaps"}`))
		})
	case endpointtest.WrongTools:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return response(q, body(answer{Status: statusOK, Outcome: endpoint.Said, Text: "x", ToolRounds: 2}))
		})
	}
	return nil
}

func textOf(q envelope.Envelope) string {
	var b question
	if err := q.DecodeBody(&b); err != nil {
		return err.Error()
	}
	return newest(b.prompt())
}

// rogueSeat is a seat whose other side is f.
func rogueSeat(t *testing.T, f rogue) *Endpoint {
	t.Helper()
	h, host, guest := newHub(), newID(t), newID(t)
	theirs := h.plug(guest)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for n := 1; ; {
			in, err := theirs.Next(ctx)
			if err != nil {
				return
			}
			q, err := envelope.Decode(in.Event.(session.Delivered).Message)
			if err != nil {
				t.Errorf("the host sent %v", err)
				return
			}
			f(n, q, func(e envelope.Envelope) { tell(t, theirs, host, e) })
			if q.Type != envelope.TurnCancel {
				n++
			}
		}
	}()
	post := NewPost(host, h.plug(host), nil, nil)
	run(t, post)
	return New(EndpointConfig{Post: post, Device: guest, Remote: "theirs", Profile: open("mine", guest), Gate: newGate(t)})
}

func tell(t testing.TB, l Link, to identity.DeviceID, e envelope.Envelope) {
	b, err := envelope.Encode(e)
	if err == nil {
		err = l.Send(context.Background(), to, b)
	}
	if err != nil {
		t.Error(err)
	}
}
