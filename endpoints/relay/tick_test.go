package relay

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/session"
)

// lamp is a floor that notes when something was shown.
type lamp struct {
	*floor
	begun time.Time
	shown []time.Duration
}

func newLamp() *lamp { return &lamp{floor: newFloor(), begun: time.Now()} }

func (l *lamp) Show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == sign {
		l.shown = append(l.shown, time.Since(l.begun))
	}
}

func (l *lamp) times() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.shown)
}

// worker is an agent that works for so long, and meanwhile does things.
func worker(d time.Duration, meanwhile func(endpoint.Floor)) actor {
	return func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		meanwhile(f)
		select {
		case <-time.After(d):
			return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
		case <-ctx.Done():
			return endpoint.Reply{}, ctx.Err()
		}
	}
}

// TestTicks: while an agent works its room sees a sign each two seconds,
// whatever the agent does, and nothing of it but the answer.
func TestTicks(t *testing.T) {
	for name, busy := range map[string]func(endpoint.Floor){
		"silent": func(endpoint.Floor) {},
		"chatty": func(f endpoint.Floor) {
			for range 100 {
				f.Show("token ")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, worker(7*time.Second, busy))
				l := newLamp()
				r, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), l)
				if err != nil || r.Text != "done" {
					t.Fatalf("%+v, %v", r, err)
				}
				time.Sleep(time.Minute)
				if got, want := l.times(), []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second}; !slices.Equal(got, want) {
					t.Errorf("signs at %v, want %v", got, want)
				}
				if len(l.signals) != 0 {
					t.Errorf("the room was told %+v", l.signals)
				}
				var sizes []int
				for _, b := range p.hub.seen {
					if e, err := envelope.Decode(b); err == nil && e.Type == envelope.Status && e.ID == "req_1" {
						sizes = append(sizes, len(b))
					}
				}
				if len(sizes) != 3 || slices.Min(sizes) != slices.Max(sizes) || sizes[0] > 250 {
					t.Errorf("ticks have sizes %v; they should be three, alike, and in the smallest frame", sizes)
				}
			})
		})
	}
}

// TestTicksOfBids: a bid is a request too.
func TestTicksOfBids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := 0.5
		p := newPair(t, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(5 * time.Second)
			return endpoint.Reply{Bid: &half}, nil
		})
		l, q := newLamp(), prompt("bid_1", "hello")
		q.Kind = endpoint.Bid
		if r, err := p.seat.Speak(t.Context(), q, l); err != nil || *r.Bid != half || len(l.times()) != 2 {
			t.Errorf("%+v, %v, signs at %v", r, err, l.times())
		}
	})
}

// TestTicksOfTheForgotten: a device that was started again hears nothing of a
// request before it asks again.
func TestTicksOfTheForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, worker(18*time.Second, func(endpoint.Floor) {}))
		go p.seat.Speak(t.Context(), prompt("req_1", "hello"), newFloor())
		time.Sleep(5 * time.Second)
		p.hub.cut(p.host)
		p.stopHost()
		time.Sleep(3 * time.Second) // one tick waits for the host, which is dead
		p.share.met(p.host)
		p.startHost(t)
		l := newLamp()
		p.seat.notes.floor = func() endpoint.Floor { return l }
		time.Sleep(3 * time.Second)
		q := prompt("req_1", "hello")
		q.Epoch++
		r, err := p.seat.Speak(t.Context(), q, l)
		if err != nil || r.Text != "done" {
			t.Errorf("%+v, %v", r, err)
		}
		if len(l.signals) != 0 || len(l.times()) == 0 {
			t.Errorf("the room was told %+v, and saw signs at %v", l.signals, l.times())
		}
	})
}

// TestTicksThatAreNone: who says that it works on what it was not asked, or
// has answered, breaks the protocol; it ends no turn.
func TestTicksThatAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, host, guest, stranger := newHub(), newID(t), newID(t), newID(t)
		post := NewPost(host, h.plug(host), nil, nil)
		run(t, post)
		seat := New(EndpointConfig{Post: post, Device: guest, Remote: "theirs", Profile: open("mine", guest), Gate: newGate(t)})
		defer seat.Close()
		theirs, other := h.plug(guest), h.plug(stranger)
		says := func(id, text string) envelope.Envelope {
			return envelope.Envelope{ID: id, Type: envelope.Status, Body: json.RawMessage(text)}
		}
		const thinking = `{"state":"thinking"}`
		l := newLamp()
		result := make(chan endpoint.Reply, 1)
		go func() {
			r, err := seat.Speak(t.Context(), prompt("req_1", "x"), l)
			if err != nil {
				t.Error(err)
			}
			result <- r
		}()
		synctest.Wait()
		q, err := envelope.Decode(last(theirs))
		if err != nil {
			t.Fatal(err)
		}
		tell(t, other, host, says("req_1", thinking)) // the right id, from another device
		tell(t, theirs, host, says("hello", `{}`))
		for range 1000 {
			tell(t, theirs, host, says("req_1", thinking))
		}
		synctest.Wait()
		if got := l.times(); len(got) != 1 {
			t.Errorf("a flood is shown %d times", len(got))
		}
		wrong := []envelope.Envelope{says("req_2", thinking), says("req_1", `{"state":"done"}`), says("req_1", `{"state":"thinking","text":"x"}`)}
		for _, e := range wrong {
			tell(t, theirs, host, e)
		}
		tell(t, theirs, host, response(q, body(answer{Status: statusOK, Outcome: endpoint.Said, Text: "fine"})))
		tell(t, theirs, host, says("req_1", thinking))
		if r := <-result; r.Text != "fine" {
			t.Errorf("the reply is %+v", r)
		}
		synctest.Wait()
		var rules []string
		for _, s := range l.signals {
			rules = append(rules, s.Kind+" "+s.Code)
		}
		want := []string{"violation unknown_request", "violation bad_status", "violation bad_frame", "violation late_status"}
		if !slices.Equal(rules, want) {
			t.Errorf("raised was %q, want %q", rules, want)
		}
	})
}

// TestTicksOfTheGivenUp: until the answer of a request that nobody waits for,
// its ticks are no breach.
func TestTicksOfTheGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(ctx context.Context, _ endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			time.Sleep(20 * time.Second) // it does not hear that it should end
			return endpoint.Reply{Outcome: endpoint.Said, Text: "late"}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		l := newLamp()
		if _, err := p.seat.Speak(ctx, prompt("req_1", "hello"), l); err == nil {
			t.Error("it was given up and has an answer")
		}
		time.Sleep(time.Minute)
		if len(l.times()) != 2 {
			t.Errorf("signs at %v", l.times())
		}
		for _, s := range l.signals {
			if s.Kind == endpoint.SignalViolation {
				t.Errorf("raised was %+v", s)
			}
		}
	})
}

// last takes what a device was sent, and returns the newest message.
func last(p *plug) (message []byte) {
	for {
		select {
		case in := <-p.box:
			message = in.Event.(session.Delivered).Message
		default:
			return message
		}
	}
}
