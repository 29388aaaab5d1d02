package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = session.Seat{Room: "r_1", Name: "ann"}

// A bench is a host with the seat ann, and a device that may hold it.
type bench struct {
	t      *testing.T
	hub    *relaytest.Hub
	broker *session.Broker
	host   identity.Peer
	guest  identity.DeviceID
	client *Client
	disp   *relay.Dispatcher // of the host

	mu      sync.Mutex
	peer    identity.Peer // the guest, as the host has it
	told    []string
	answers []Answer
	refuse  error // of Answer
	over    bool
}

// onBench runs a test in a bubble of its own time.
func onBench(t *testing.T, test func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, hub: relaytest.NewHub(), guest: relaytest.NewID(t), client: NewClient()}
		b.host = identity.Peer{ID: relaytest.NewID(t), Name: "ann's laptop"}
		b.peer = identity.Peer{ID: b.guest, Name: "bob", Grant: identity.GrantSeat, Seats: []identity.SeatRef{{Room: "r_1", Seat: "ann"}}}
		b.broker = session.NewBroker(session.Config{Present: func(_ context.Context, s session.Seat, by session.Holder, p room.Presence) error {
			b.tell("%s %s %s %t", s.Name, by.Owner, p, by.Device == b.guest.String())
			return nil
		}})
		defer b.broker.Close()
		stopHost := b.start()
		defer func() { stopHost() }()
		d := relay.NewDispatcher(b.guest, b.hub.Connect(b.guest), nil)
		d.Handle(b.client)
		defer b.run(d)()
		test(b)
	})
}

func (b *bench) tell(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, fmt.Sprintf(format, args...))
}

func (b *bench) said() string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	told := strings.Join(b.told, ", ")
	b.told = nil
	return told
}

// start starts the host.
func (b *bench) start() (stop func()) {
	d := relay.NewDispatcher(b.host.ID, b.hub.Connect(b.host.ID), nil)
	b.disp = d
	d.Handle(NewServer(ServerConfig{
		Peer: func(id identity.DeviceID) (identity.Peer, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if id != b.peer.ID {
				return identity.Peer{}, identity.ErrNoPeer
			}
			return b.peer, nil
		},
		Await: func(ctx context.Context, s session.Seat, by session.Holder, wait time.Duration, _ bool) (session.Turn, bool, error) {
			b.mu.Lock()
			over := b.over
			b.mu.Unlock()
			if over {
				return session.Turn{}, false, room.ErrOver
			}
			return b.broker.Await(ctx, s, by, wait)
		},
		Answer: func(_ context.Context, _ session.Seat, a Answer) (Answered, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.answers = append(b.answers, a)
			return Answered{wire.OutcomePosted, 7, 12}, b.refuse
		},
		Phase:       func(context.Context, string) room.Phase { return room.PhaseStopped },
		Undelivered: b.broker.Undelivered, Leave: b.broker.Leave,
		Audit: func(a AuditEntry) error { b.tell("audit %s %s", a.Seat, a.Status); return nil },
	}))
	return b.run(d)
}

func (b *bench) run(d *relay.Dispatcher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.Run(ctx) // it ends with ctx
	}()
	<-d.Ready()
	return func() { cancel(); <-done }
}

// speak gives the seat its turn until stop is called.
func (b *bench) speak() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = b.broker.Endpoint(ann).Speak(ctx, endpoint.Prompt{
			Kind: endpoint.Turn, Request: "req_1", Epoch: 3, Turn: 7, Timeout: 300 * time.Second, You: endpoint.Seat{ID: "ann"}, Objective: "Choose a date.",
			Text: "of the host", Instructions: "of the host",
		}, nil)
	}()
	synctest.Wait()
	return func() { cancel(); <-done }
}

func codeOf(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Code
	}
	return fmt.Sprint(err)
}

// TestHold: a session on another device is given the turn of its seat, whose prompt
// this device renders, and answers it. The room is told whose session it is.
func TestHold(t *testing.T) {
	onBench(t, func(b *bench) {
		got, err := b.client.Await(b.t.Context(), b.host, ann, 0, false)
		if err != nil || got.Text != "" || got.Over != "" {
			t.Fatalf("%+v, %v", got, err)
		}
		if told := b.said(); told != "audit ann held, ann bob live true" {
			t.Errorf("the room was told %q", told)
		}
		defer b.speak()()
		got, err = b.client.Await(b.t.Context(), b.host, ann, time.Minute, false)
		if err != nil || got.ID != "req_1" || got.Epoch != 3 || got.Number != 7 || time.Until(got.Deadline) != 300*time.Second {
			t.Fatalf("%+v, %v", got, err)
		}
		if strings.Contains(got.Text, "of the host") || !strings.Contains(got.Text, "not from your owner") || !strings.Contains(got.Text, "| Choose a date.") {
			t.Errorf("the prompt is\n%s", got.Text)
		}
		done, err := b.client.Answer(b.t.Context(), b.host.ID, ann, Answer{Request: "req_1", Epoch: 3, Reply: endpoint.Reply{Outcome: endpoint.Said, Text: "Monday"}})
		if err != nil || done != (Answered{wire.OutcomePosted, 7, 12}) {
			t.Errorf("%+v, %v", done, err)
		}
		if a := b.answers; len(a) != 1 || a[0].Text != "Monday" || a[0].Request != "req_1" || a[0].Epoch != 3 {
			t.Errorf("%+v", a)
		}
		for code, want := range map[string]string{"SEAT-ANSWERED": "SEAT-ANSWERED", "SEAT-REQUEST": "SEAT-REQUEST", "SEAT-SIZE": "SEAT-SIZE", "ROOM-OVER": "ROOM-OVER", "LOG-FULL": "SEAT-HOST"} {
			b.refuse = &problem.Error{Code: code, What: "/home/ann/secret"}
			_, err := b.client.Answer(b.t.Context(), b.host.ID, ann, Answer{Reply: endpoint.Reply{Outcome: endpoint.Passed}})
			if codeOf(err) != want || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("%s: %v", code, err)
			}
		}
		b.over = true
		if got, err := b.client.Await(b.t.Context(), b.host, ann, 0, false); err != nil || got.Over != room.PhaseStopped {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestHoldRefuses: a device gets the seat of its invite and no other. Keys that have
// changed, a seat of another device and one that does not exist look the same.
func TestHoldRefuses(t *testing.T) {
	onBench(t, func(b *bench) {
		for _, s := range []session.Seat{{Room: "r_1", Name: "bob"}, {Room: "r_2", Name: "ann"}} {
			if _, err := b.client.Await(b.t.Context(), b.host, s, 0, false); codeOf(err) != "RELAY-DENIED" {
				t.Errorf("%v: %v", s, err)
			}
			if _, err := b.client.Answer(b.t.Context(), b.host.ID, s, Answer{Reply: endpoint.Reply{Outcome: endpoint.Passed}}); codeOf(err) != "RELAY-DENIED" {
				t.Errorf("%v: %v", s, err)
			}
		}
		b.peer.Changed = time.Now()
		if _, err := b.client.Await(b.t.Context(), b.host, ann, 0, false); codeOf(err) != "RELAY-DENIED" {
			t.Error(err)
		}
		b.peer.Changed = time.Time{}
		if told := b.said(); strings.Contains(told, "live") || strings.Count(told, "refused") != 5 {
			t.Errorf("the room was told %q", told)
		}
		link := b.hub.Connect(b.guest)
		for _, body := range []string{`{}`, `{"seat":"ann","wait_ms":1e9}`, `{"seat":"ann","more":1}`, `{"seat":"ann","outcome":"said"}`} {
			e := envelope.Envelope{ID: "x", Type: envelope.SeatAnswer, Room: "r_1", Body: []byte(body)}
			text, err := envelope.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := link.Send(b.t.Context(), b.host.ID, text); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := b.disp.Violations(); n != 4 {
			t.Errorf("%d violations", n)
		}
	})
}

// TestHoldRemoved: a device that may not hold the seat any more is away within
// seconds, while it awaits its turn and between two awaits.
func TestHoldRemoved(t *testing.T) {
	for _, awaiting := range []bool{true, false} {
		onBench(t, func(b *bench) {
			if !awaiting {
				if _, err := b.client.Await(b.t.Context(), b.host, ann, 0, false); err != nil {
					t.Fatal(err)
				}
			}
			go func() {
				time.Sleep(2 * time.Second)
				b.mu.Lock()
				defer b.mu.Unlock()
				b.peer.Seats = nil
			}()
			if awaiting {
				if _, err := b.client.Await(b.t.Context(), b.host, ann, time.Minute, false); codeOf(err) != "RELAY-DENIED" {
					t.Error(err)
				}
			}
			time.Sleep(4 * time.Second)
			if told := b.said(); !strings.HasSuffix(told, "ann bob away true") {
				t.Errorf("the room was told %q", told)
			}
		})
	}
}

// TestHoldAgain: an await that was lost with the host is sent again, and a session that
// has ended its await is not given the turn.
func TestHoldAgain(t *testing.T) {
	onBench(t, func(b *bench) {
		b.hub.Disconnect(b.host.ID)
		result := make(chan error, 1)
		go func() {
			got, err := b.client.Await(b.t.Context(), b.host, ann, time.Minute, false)
			if err == nil && got.ID != "req_1" {
				err = fmt.Errorf("%+v", got)
			}
			result <- err
		}()
		time.Sleep(time.Second)
		stop := b.start()
		defer stop()
		time.Sleep(time.Second)
		end := b.speak()
		if err := <-result; err != nil {
			t.Error(err)
		}
		end()
		ctx, cancel := context.WithTimeoutCause(b.t.Context(), time.Second, ErrSilent)
		defer cancel()
		if _, err := b.client.Await(ctx, b.host, ann, time.Minute, false); !errors.Is(err, ErrSilent) {
			t.Error(err)
		}
		synctest.Wait()
		end = b.speak()
		defer end()
		if g, ok := b.broker.Given(ann); !ok || g.ID != "req_1" {
			t.Errorf("%+v", g)
		}
		time.Sleep(70 * time.Second)
		if told := b.said(); !strings.HasSuffix(told, "ann bob away true") {
			t.Errorf("the room was told %q", told)
		}
	})
}

// TestHoldLost: a turn that does not reach its device holds the seat for no longer than
// an await without a turn.
func TestHoldLost(t *testing.T) {
	onBench(t, func(b *bench) {
		text, err := envelope.Encode(envelope.Envelope{ID: "x", Type: envelope.SeatAwait, Room: "r_1", Body: []byte(`{"seat":"ann","wait_ms":20000}`)})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.hub.Connect(b.guest).Send(b.t.Context(), b.host.ID, text); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.hub.Disconnect(b.guest)
		defer b.speak()()
		time.Sleep(deliverTime + session.Lease + time.Second)
		if told := b.said(); !strings.HasSuffix(told, "ann bob away true") {
			t.Errorf("the room was told %q", told)
		}
	})
}
