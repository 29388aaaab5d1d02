package seat

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// A heartbeatFloor is a floor that records the times of heartbeats.
type heartbeatFloor struct {
	*floor
	begun      time.Time
	heartbeats []time.Duration
}

func newHeartheartbeatFloor() *heartbeatFloor {
	return &heartbeatFloor{floor: newFloor(), begun: time.Now()}
}

func (f *heartbeatFloor) Show(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text == heartbeatMark {
		f.heartbeats = append(f.heartbeats, time.Since(f.begun))
	}
}

func (*heartbeatFloor) ShowTool(endpoint.ToolCall) {}

func (f *heartbeatFloor) times() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.heartbeats)
}

// workFor returns an agent that first calls begin, and answers after d.
func workFor(d time.Duration, begin func(endpoint.Floor)) agentFunc {
	return func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		begin(f)
		select {
		case <-time.After(d):
			return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
		case <-ctx.Done():
			return endpoint.Reply{}, ctx.Err()
		}
	}
}

// TestHeartbeat checks that a room gets a heartbeat every two seconds while an
// agent works, the same for a silent agent and one that streams text.
func TestHeartbeat(t *testing.T) {
	for name, begin := range map[string]func(endpoint.Floor){
		"silent": func(endpoint.Floor) {},
		"streaming": func(f endpoint.Floor) {
			for range 100 {
				f.Show("token ")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, workFor(7*time.Second, begin))
				f := newHeartheartbeatFloor()
				r, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), f)
				if err != nil || r.Text != "done" {
					t.Fatalf("%+v, %v", r, err)
				}
				time.Sleep(time.Minute)
				if got, want := f.times(), []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second}; !slices.Equal(got, want) {
					t.Errorf("heartbeats at %v, want %v", got, want)
				}
				if len(f.signals) != 0 {
					t.Errorf("the room got signals: %+v", f.signals)
				}
				var sizes []int
				for _, b := range p.hub.Sent() {
					if e, err := envelope.Decode(b); err == nil && e.Type == envelope.Status && e.ID == "req_1" {
						sizes = append(sizes, len(b))
					}
				}
				if len(sizes) != 3 || slices.Min(sizes) != slices.Max(sizes) || sizes[0] > 250 {
					t.Errorf("heartbeats have sizes %v, want three equal ones in the smallest frame", sizes)
				}
			})
		})
	}
}

// TestHeartbeatOfBid checks that bids have heartbeats too.
func TestHeartbeatOfBid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := 0.5
		p := newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(5 * time.Second)
			return endpoint.Reply{Bid: &half}, nil
		})
		f, q := newHeartheartbeatFloor(), prompt("bid_1", "hello")
		q.Kind = endpoint.Bid
		if r, err := p.seat.Speak(t.Context(), q, f); err != nil || *r.Bid != half || len(f.times()) != 2 {
			t.Errorf("%+v, %v, heartbeats at %v", r, err, f.times())
		}
	})
}

// TestHeartbeatAfterHostRestart checks that a restarted host gets no heartbeat
// of a request until it sends the request again.
func TestHeartbeatAfterHostRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, workFor(18*time.Second, func(endpoint.Floor) {}))
		go p.seat.Speak(t.Context(), prompt("req_1", "hello"), newFloor())
		time.Sleep(5 * time.Second)
		p.hub.Disconnect(p.host)
		p.stopHost()
		time.Sleep(3 * time.Second) // one heartbeat waits for the host
		p.share.PeerRestarted(p.host)
		p.startHost(t)
		f := newHeartheartbeatFloor()
		p.seat.mu.Lock()
		p.seat.floor = f // violations would be raised on it
		p.seat.mu.Unlock()
		time.Sleep(3 * time.Second)
		q := prompt("req_1", "hello")
		q.Epoch++
		r, err := p.seat.Speak(t.Context(), q, f)
		if err != nil || r.Text != "done" {
			t.Errorf("%+v, %v", r, err)
		}
		if len(f.signals) != 0 || len(f.times()) == 0 {
			t.Errorf("the room got signals %+v, and heartbeats at %v", f.signals, f.times())
		}
	})
}

// TestWrongHeartbeats checks that heartbeats of unknown and of answered requests
// are violations, and end no turn.
func TestWrongHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, host, guest, stranger := relaytest.NewHub(), relaytest.NewID(t), relaytest.NewID(t), relaytest.NewID(t)
		d := relay.NewDispatcher(host, h.Connect(host), nil)
		run(t, d)
		seat := New(Config{Dispatcher: d, Device: guest, Remote: "theirs", Profile: allow("mine", guest), Quota: newQuota(t)})
		defer seat.Close()
		theirs, other := h.Connect(guest), h.Connect(stranger)
		status := func(id, body string) envelope.Envelope {
			return envelope.Envelope{ID: id, Type: envelope.Status, Body: json.RawMessage(body)}
		}
		const thinking = `{"state":"thinking"}`
		f := newHeartheartbeatFloor()
		result := make(chan endpoint.Reply, 1)
		go func() {
			r, err := seat.Speak(t.Context(), prompt("req_1", "x"), f)
			if err != nil {
				t.Error(err)
			}
			result <- r
		}()
		synctest.Wait()
		q, err := envelope.Decode(theirs.Last())
		if err != nil {
			t.Fatal(err)
		}
		send(t, other, host, status("req_1", thinking)) // the right id, from another device
		send(t, theirs, host, status("hello", `{}`))
		for range 1000 {
			send(t, theirs, host, status("req_1", thinking))
		}
		synctest.Wait()
		if got := f.times(); len(got) != 1 {
			t.Errorf("a flood is shown %d times", len(got))
		}
		wrong := []envelope.Envelope{status("req_2", thinking), status("req_1", `{"state":"done"}`), status("req_1", `{"state":"thinking","text":"x"}`)}
		for _, e := range wrong {
			send(t, theirs, host, e)
		}
		send(t, theirs, host, wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Said, Text: "fine"})))
		send(t, theirs, host, status("req_1", thinking))
		if r := <-result; r.Text != "fine" {
			t.Errorf("the reply is %+v", r)
		}
		synctest.Wait()
		var rules []string
		for _, s := range f.signals {
			rules = append(rules, s.Kind+" "+s.Code)
		}
		want := []string{"violation unknown_request", "violation bad_status", "violation bad_frame", "violation late_status"}
		if !slices.Equal(rules, want) {
			t.Errorf("raised was %q, want %q", rules, want)
		}
	})
}

// TestHeartbeatOfAbandonedRequest checks that heartbeats of an abandoned request
// are no violation until its response arrives.
func TestHeartbeatOfAbandonedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(20 * time.Second) // it ignores the cancellation
			return endpoint.Reply{Outcome: endpoint.Said, Text: "late"}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f := newHeartheartbeatFloor()
		if _, err := p.seat.Speak(ctx, prompt("req_1", "hello"), f); err == nil {
			t.Error("an abandoned request has an answer")
		}
		time.Sleep(time.Minute)
		if len(f.times()) != 2 {
			t.Errorf("heartbeats at %v", f.times())
		}
		for _, s := range f.signals {
			if s.Kind == endpoint.SignalViolation {
				t.Errorf("raised was %+v", s)
			}
		}
	})
}
