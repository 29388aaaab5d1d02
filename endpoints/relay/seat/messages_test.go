package seat

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// mailed returns a prompt of a worker with a message that waits for it.
func mailed(id string) endpoint.Prompt {
	p := prompt(id, "hello")
	p.Seats = append(p.Seats, endpoint.Seat{ID: "Ann Lee"})
	p.Duty = endpoint.DutyWorker
	p.Inbox = []endpoint.Line{{Seq: 7, From: "Ann Lee", To: "bob", Kind: "intent_brief", Text: "Estimate it.", ID: "r_1.7", Ack: true}}
	p.Mail = []endpoint.Mail{{From: "Ann Lee", Post: endpoint.Post{
		ID: "r_1.7", To: "bob", Kind: "intent_brief", Text: "Estimate it.", Summary: "s", Payload: []byte(`{"a":{"b":{"c":[[[[[[[[1]]]]]]]]}}}`), Priority: "high", RequiresAck: true, Correlation: "c", Parent: "p", Thread: "t",
	}}}
	return p
}

// A roomFloor answers as a room: it refuses decisions, and all but the message r_1.7.
type roomFloor struct{ *floor }

func (f roomFloor) Raise(ctx context.Context, s endpoint.Signal) (endpoint.Answer, error) {
	if _, err := f.floor.Raise(ctx, s); err != nil {
		return endpoint.Answer{}, err
	}
	switch {
	case s.Post != nil && s.Post.Kind == "decision":
		return endpoint.Answer{Reason: "only a manager\ndecides"}, nil
	case s.Kind == endpoint.SignalAck:
		a := endpoint.Answer{Allowed: true, Reasons: make([]string, len(s.Of))}
		for i, id := range s.Of {
			if id != "r_1.7" {
				a.Allowed, a.Reason, a.Reasons[i] = false, "unknown", "unknown"
			}
		}
		return a, nil
	}
	if s.Post != nil {
		return endpoint.Answer{Allowed: true, Body: []byte(`{"state":"queued"}`)}, nil
	}
	return endpoint.Answer{Allowed: true}, nil
}

// TestTypedMessages: an agent of another owner gets what waits for it, and posts,
// acknowledges and claims as an agent of the room's device does. It is told why the room
// refuses something, and all comes before its answer.
func TestTypedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := endpoint.Post{
			ID: "m1", To: "Ann-Lee", Kind: "result_bundle", Text: "40 s", Summary: "s", Payload: []byte(`{"task":"t1"}`), Priority: "low", RequiresAck: true,
			Correlation: "r_1.7", Parent: "p", Thread: "t", Visibility: "internal", Notify: "idle",
		}
		var prompts []endpoint.Prompt
		agent := func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			prompts = append(prompts, p)
			post := post
			post.To = p.Mail[0].From
			for _, c := range []struct {
				signal endpoint.Signal
				want   endpoint.Answer
			}{
				{endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{"r_1.7", "r_1.8"}}, endpoint.Answer{Reason: "unknown", Reasons: []string{"", "unknown"}}},
				{endpoint.Signal{Kind: endpoint.SignalAck, Of: []string{"r_1.7"}}, endpoint.Answer{Allowed: true, Reasons: []string{""}}},
				{endpoint.Signal{Kind: endpoint.SignalClaim, Code: "t1"}, endpoint.Answer{Allowed: true}},
				{endpoint.Signal{Kind: endpoint.SignalMessage, Post: &post}, endpoint.Answer{Allowed: true, Body: []byte(`{"state":"queued"}`)}},
				{endpoint.Signal{Kind: endpoint.SignalMessage, Post: &endpoint.Post{Kind: "decision", Text: "x"}}, endpoint.Answer{Reason: "only a manager decides"}},
				{endpoint.Signal{Kind: endpoint.SignalMessage, Detail: "plain"}, endpoint.Answer{Allowed: true}},
			} {
				if a, err := f.Raise(ctx, c.signal); err != nil || !reflect.DeepEqual(a, c.want) {
					t.Errorf("%+v: %+v (%v), want %+v", c.signal, a, err, c.want)
				}
			}
			return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
		}
		p := newPair(t, agent)
		room := roomFloor{newFloor()}
		for _, id := range []string{"req_1", "req_2"} {
			if r, err := p.seat.Speak(t.Context(), mailed(id), room); err != nil || r.Text != "done" {
				t.Fatalf("%+v and %v", r, err)
			}
			var kinds []string
			for range len(room.news) {
				s := <-room.news
				kinds = append(kinds, s.Kind)
				if s.Post != nil && s.Post.ID == "m1" {
					want := post
					want.To = "Ann Lee"
					if !reflect.DeepEqual(*s.Post, want) {
						t.Errorf("posted was %+v, want %+v", *s.Post, want)
					}
				}
			}
			if want := []string{"ack", "ack", "claim", "message", "message", "message"}; !slices.Equal(kinds, want) {
				t.Errorf("before the answer came %q, want %q", kinds, want)
			}
		}
		got, want := prompts[0], mailed("req_1")
		ann := wire.ID("Ann Lee")
		want.Mail[0].From = ann
		if !reflect.DeepEqual(got.Mail, want.Mail) || len(got.Inbox) != 1 || got.Inbox[0].ID != "r_1.7" || !got.Inbox[0].Ack || got.Duty != endpoint.DutyWorker {
			t.Errorf("the agent got %+v and %+v", got.Mail, got.Inbox)
		}
		for _, part := range []string{`message_id "r_1.7"`, "acknowledge it", "You work for the manager"} {
			if !strings.Contains(got.Text, part) {
				t.Errorf("the prompt lacks %q:\n%s", part, got.Text)
			}
		}
	})
}

// TestEarlierReleases: a device that does not say that it knows typed messages gets a
// request in the form of earlier releases, whose new messages begin with those of the
// inbox. It is asked once until it is started again. One that does not answer at all
// is asked three times.
func TestEarlierReleases(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			asked, texts := 0, ""
			seat := scriptedSeat(t, func(_ int, q envelope.Envelope, say func(envelope.Envelope)) {
				if q.Type == envelope.Offers {
					if asked++; !silent {
						say(envelope.Envelope{ID: q.ID, Type: envelope.Offered, Body: []byte(`{"profiles":["theirs"]}`)})
					}
					return
				}
				var r wire.Request
				if err := q.DecodeBody(&r); err != nil || r.Messages || r.Duty != "" || r.Inbox != nil || r.Mail != nil {
					t.Errorf("the request is %s", q.Body)
				}
				texts = ""
				for _, l := range r.CatchUp {
					texts += l.Text + "|"
					if l.ID != "" || l.Ack {
						t.Errorf("the line %+v", l)
					}
				}
				say(wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Passed})))
			})
			defer seat.Close()
			speak := func(p endpoint.Prompt) {
				t.Helper()
				if _, err := seat.Speak(t.Context(), p, newFloor()); err != nil {
					t.Error(err)
				}
			}
			speak(prompt("req_0", "hello"))
			if asked != 0 {
				t.Error("it was asked without need")
			}
			speak(mailed("req_1"))
			want := 1
			for _, id := range []string{"req_2", "req_3", "req_4"} {
				speak(mailed(id))
			}
			if silent {
				want = 3
			}
			if asked != want || texts != "Estimate it.|hello|" {
				t.Errorf("asked %d times, and it got %q", asked, texts)
			}
			seat.PeerRestarted()
			speak(mailed("req_5"))
			if asked != want+1 {
				t.Errorf("asked %d times after its restart", asked)
			}
		})
	}
}

// TestHostOfEarlierRelease: an agent whose request does not say that the room takes typed
// messages is told so, and nothing is sent. Plain talk is sent.
func TestHostOfEarlierRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(ctx context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
			a, err := f.Raise(ctx, endpoint.Signal{Kind: endpoint.SignalMessage, Post: &endpoint.Post{Kind: "blocker", Text: "x"}})
			if err != nil || a.Allowed || !strings.Contains(a.Reason, "newer release") {
				t.Errorf("%+v and %v", a, err)
			}
			sideMessage(ctx, f, "", "plain")
			return endpoint.Reply{Outcome: endpoint.Passed}, nil
		})
		room := newFloor()
		if _, err := p.seat.Speak(t.Context(), prompt("req_1", "hello"), room); err != nil {
			t.Fatal(err)
		}
		if len(room.signals) != 1 || room.signals[0].Detail != "plain" {
			t.Errorf("raised was %+v", room.signals)
		}
	})
}

// TestHostileMessages: a device that sends malformed typed messages breaks the protocol,
// and nothing of them is raised.
func TestHostileMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := []string{
			`{"text":"","number":1}`, `{"text":"","number":-1,"claim":"t1"}`, `{"text":"x","number":1,"claim":"t1"}`, `{"text":"","number":1,"claim":"t1","acks":["m1"]}`,
			`{"text":"","number":1,"acks":[""]}`, `{"text":"","number":1,"acks":["a\nb"]}`, `{"text":"","number":1,"post":{"kind":"blocker","payload":"{"}}`,
			`{"text":"","number":1,"post":{"kind":"blocker","text":"` + strings.Repeat("x", 1001) + `"}}`, `{"text":"","number":1,"post":{"from_agent":"ann"}}`,
			`{"text":"","number":1,"acks":["` + strings.Repeat(`a","`, 100) + `a"]}`,
		}
		answers := 0
		seat := scriptedSeat(t, func(_ int, q envelope.Envelope, say func(envelope.Envelope)) {
			if q.Type == envelope.MessageAnswer {
				var a wire.MessageAnswer
				if q.DecodeBody(&a) != nil || a.Allowed || a.Reason == "" {
					t.Errorf("the answer is %s", q.Body)
				}
				answers++
				return
			}
			for _, b := range bad {
				say(envelope.Envelope{ID: q.ID, Type: envelope.Message, Body: []byte(b)})
			}
			say(wire.ResponseTo(q, wire.Body(wire.Response{Status: wire.StatusOK, Outcome: endpoint.Passed})))
		})
		defer seat.Close()
		room := newFloor()
		if _, err := seat.Speak(t.Context(), prompt("req_1", "hello"), room); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, s := range room.signals {
			if s.Kind != endpoint.SignalViolation {
				t.Errorf("raised was %+v", s)
			}
		}
		if len(room.signals) != len(bad) || answers == 0 {
			t.Errorf("%d violations and %d answers of %d messages", len(room.signals), answers, len(bad))
		}
	})
}
