package seat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/endpointtest"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// TestConformance runs the suite of all endpoints. Scenarios of agents are
// behind a share. Scenarios of devices that break the protocol are scripted
// here, envelope by envelope.
func TestConformance(t *testing.T) {
	endpointtest.Run(t, open)
}

// TestDocumentedAbilities compares docs/agents.md with the suite.
func TestDocumentedAbilities(t *testing.T) {
	endpointtest.Documented(t, "../../../docs/agents.md", "relay", open)
}

func open(t *testing.T, s endpointtest.Scenario) endpointtest.Endpoint {
	if f := scriptedDevice(s); f != nil {
		return scriptedSeat(t, f)
	}
	a := agentOf(s)
	if a == nil {
		return nil // the scenario is about the pipes of a process, which the host does not see
	}
	return newPair(t, a).seat
}

func echo(p endpoint.Prompt) endpoint.Reply {
	text := []rune(endpointtest.Answer(newest(p)))
	return endpoint.Reply{Outcome: endpoint.Said, Text: string(text[:min(len(text), p.MaxOutputChars)])}
}

func sideMessage(ctx context.Context, f endpoint.Floor, to, text string) {
	_, _ = f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalMessage, To: to, Detail: text})
}

// handleMail is an agent that acknowledges its mail, claims a task and posts its result.
func handleMail(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
	signals := []endpoint.Signal{{Kind: endpoint.SignalClaim, Code: "t1"}, {Kind: endpoint.SignalMessage, Post: &endpoint.Post{
		ID: "result", To: "you", Kind: "result_bundle", Summary: "40 s", Payload: []byte(`{"task":"t1"}`), Correlation: "brief", RequiresAck: true,
	}}}
	for _, m := range p.Mail {
		if m.RequiresAck {
			signals = append([]endpoint.Signal{{Kind: endpoint.SignalAck, Of: []string{m.ID}}}, signals...)
		}
	}
	for _, s := range signals {
		a, err := f.Raise(ctx, s)
		if err != nil {
			return endpoint.Reply{}, err
		}
		if !a.Allowed && len(p.Mail) > 0 {
			return endpoint.Reply{Outcome: endpoint.Passed, Reason: a.Reason}, nil
		}
	}
	return echo(p), nil
}

// agentOf returns the agent of a scenario, or nil.
func agentOf(s endpointtest.Scenario) agentFunc {
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
	case endpointtest.HandsOff:
		return func(_ context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			r := echo(p)
			r.Handoff = &endpoint.Handoff{To: "dba", Reason: "hers"}
			return r, nil
		}
	case endpointtest.Messages:
		return handleMail
	case endpointtest.SideMessage:
		return func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			sideMessage(ctx, f, "dba", "psst")
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
			sideMessage(ctx, f, "", "working")
			<-ctx.Done()
			return endpoint.Reply{}, ctx.Err()
		}
	}
	return nil
}

// A device is another owner's device that is scripted: it gets the nth request
// and a function that sends an envelope.
type device func(n int, q envelope.Envelope, say func(envelope.Envelope))

// scriptedDevice returns the device of a scenario, or nil.
func scriptedDevice(s endpointtest.Scenario) device {
	good := func(q envelope.Envelope, text string) envelope.Envelope {
		return wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Said, Text: text}))
	}
	echoed := func(q envelope.Envelope) envelope.Envelope { return good(q, endpointtest.Answer(textOf(q))) }
	message := func(q envelope.Envelope, text string) envelope.Envelope {
		return envelope.Envelope{ID: q.ID, Type: envelope.Message, Body: wire.Body(wire.SideMessage{Text: text})}
	}
	first := func(bad func(envelope.Envelope) envelope.Envelope) device {
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
			case n > 1: // like a share that had to kill its agent
				say(wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusError, Code: "exited"})))
			default:
				say(message(q, "working"))
			}
		}
	case endpointtest.Late:
		return func(n int, q envelope.Envelope, say func(envelope.Envelope)) {
			switch {
			case q.Type == envelope.TurnCancel:
				say(good(q, endpointtest.Answer("first")))
			case n == 1:
				say(message(q, "working"))
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
			return wire.ResponseTo(q, json.RawMessage(`{"status":"ok","Status":"ok"}`))
		})
	case endpointtest.Oversize:
		return first(func(q envelope.Envelope) envelope.Envelope { return good(q, strings.Repeat("ü", 1001)) })
	case endpointtest.Negative:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Said, Text: "x", Usage: &wire.Usage{Input: -1}}))
		})
	case endpointtest.Flooding:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return wire.ResponseTo(q, json.RawMessage(`{"status":"perhaps"}`))
		})
	case endpointtest.WrongTools:
		return first(func(q envelope.Envelope) envelope.Envelope {
			return wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Said, Text: "x", ToolRounds: 2}))
		})
	}
	return nil
}

func textOf(q envelope.Envelope) string {
	var b wire.Request
	if err := q.DecodeBody(&b); err != nil {
		return err.Error()
	}
	return newest(b.Prompt("theirs", known))
}

// scriptedSeat returns a seat whose other side is f.
func scriptedSeat(t *testing.T, f device) *Endpoint {
	t.Helper()
	h, host, guest := relaytest.NewHub(), relaytest.NewID(t), relaytest.NewID(t)
	theirs := h.Connect(guest)
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
			f(n, q, func(e envelope.Envelope) { send(t, theirs, host, e) })
			if q.Type != envelope.TurnCancel {
				n++
			}
		}
	}()
	d := relay.NewDispatcher(host, h.Connect(host), nil)
	run(t, d)
	return New(Config{Dispatcher: d, Device: guest, Remote: "theirs", Profile: allow("mine", guest), Quota: newQuota(t)})
}
