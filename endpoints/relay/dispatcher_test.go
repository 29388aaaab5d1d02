package relay_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeSeat takes messages with one id.
type fakeSeat struct {
	id         string
	taken      []envelope.Type
	violations []string
	restarts   int
}

func (s *fakeSeat) Take(e envelope.Envelope) bool {
	if e.ID != s.id {
		return false
	}
	s.taken = append(s.taken, e.Type)
	return true
}
func (s *fakeSeat) PeerRestarted()           { s.restarts++ }
func (s *fakeSeat) Violation(code, _ string) { s.violations = append(s.violations, code) }

// A fakeHandler takes messages of one type.
type fakeHandler struct {
	typ             envelope.Type
	taken, restarts int
	begun, ended    bool
}

func (h *fakeHandler) Begin(context.Context, *relay.Dispatcher) { h.begun = true }
func (h *fakeHandler) End()                                     { h.ended = true }
func (h *fakeHandler) PeerRestarted(identity.DeviceID)          { h.restarts++ }
func (h *fakeHandler) Take(_ identity.DeviceID, e envelope.Envelope) bool {
	if e.Type != h.typ {
		return false
	}
	h.taken++
	return true
}

// TestDispatch checks where each message goes, and that messages for no part of
// the device are violations of the right seat.
func TestDispatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, self, peer, stranger := relaytest.NewHub(), relaytest.NewID(t), relaytest.NewID(t), relaytest.NewID(t)
		d := relay.NewDispatcher(self, hub.Connect(self), nil)
		h := &fakeHandler{typ: envelope.Watch}
		d.Handle(h)
		first, second := &fakeSeat{id: "q1"}, &fakeSeat{id: "q2"}
		d.Add(peer, "coder", first)
		d.Add(peer, "reviewer", second)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		link, other := hub.Connect(peer), hub.Connect(stranger)
		send := func(l *relaytest.HubLink, e envelope.Envelope) {
			b, err := envelope.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Send(t.Context(), self, b); err != nil {
				t.Fatal(err)
			}
		}
		body := wire.Body(wire.Status{State: wire.StateThinking})
		send(link, envelope.Envelope{ID: "q2", Type: envelope.TurnResponse, Profile: "reviewer", Body: body})
		send(link, envelope.Envelope{ID: "q1", Type: envelope.Status, Body: body})
		send(link, envelope.Envelope{ID: "w", Type: envelope.Watch, Body: body})
		send(link, envelope.Envelope{ID: "q3", Type: envelope.TurnResponse, Profile: "reviewer", Body: body})
		send(link, envelope.Envelope{ID: "q3", Type: envelope.Message, Body: body})
		send(other, envelope.Envelope{ID: "q1", Type: envelope.TurnResponse, Body: body})
		hub.Inject(self, session.Inbound{From: peer, Event: session.Connected{NewStream: true}})
		send(other, envelope.Envelope{ID: "q4", Type: envelope.TurnRequest, Body: body})
		synctest.Wait()
		if !slices.Equal(first.taken, []envelope.Type{envelope.Status}) || !slices.Equal(second.taken, []envelope.Type{envelope.TurnResponse}) {
			t.Errorf("the seats took %v and %v", first.taken, second.taken)
		}
		if !slices.Equal(first.violations, []string{"unsolicited"}) || !slices.Equal(second.violations, []string{"unknown_request"}) || d.Violations() != 3 {
			t.Errorf("the violations are %v, %v and %d in all", first.violations, second.violations, d.Violations())
		}
		if h.taken != 1 || h.restarts != 1 || first.restarts != 1 || !h.begun {
			t.Errorf("the handler is %+v, and the seat %+v", h, first)
		}
		e, err := envelope.Decode(other.Last())
		var r wire.Response
		if err != nil || e.DecodeBody(&r) != nil || e.ID != "q4" || r.Code != wire.CodeDenied {
			t.Errorf("a request to a device without a share got %+v, %v", e, err)
		}
		cancel()
		if err := <-done; err != nil || !h.ended {
			t.Errorf("Run returned %v, and the handler has ended: %t", err, h.ended)
		}
	})
}

// TestHandlersComeAndGo checks that a handler which is added while the dispatcher
// runs begins before its first message, that one which is removed ends and gets
// none, and that the others end with the dispatcher.
func TestHandlersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, self, peer := relaytest.NewHub(), relaytest.NewID(t), relaytest.NewID(t)
		d := relay.NewDispatcher(self, hub.Connect(self), nil)
		first, second, late := &fakeHandler{typ: envelope.Watch}, &fakeHandler{typ: envelope.Watch}, &fakeHandler{typ: envelope.Watch}
		d.Handle(first)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		link := hub.Connect(peer)
		send := func() {
			b, err := envelope.Encode(envelope.Envelope{ID: "w", Type: envelope.Watch})
			if err != nil {
				t.Fatal(err)
			}
			if err := link.Send(t.Context(), self, b); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		<-d.Ready()
		d.Handle(second)
		send()
		d.Unhandle(first)
		d.Unhandle(first) // changes nothing
		send()
		if first.taken != 1 || !first.ended || second.taken != 1 || !second.begun || second.ended {
			t.Errorf("the first is %+v, the second %+v", first, second)
		}
		cancel()
		if err := <-done; err != nil || !second.ended {
			t.Errorf("Run returned %v, and the second has ended: %t", err, second.ended)
		}
		if d.Handle(late); !late.begun || !late.ended {
			t.Errorf("a handler of a dispatcher that has ended is %+v", late)
		}
	})
}
