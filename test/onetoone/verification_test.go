// Package onetoone contains the eleven verifications of the one-to-one
// orchestration design, one numbered test each. The room has a local agent and an
// agent of another owner, with real sessions between their devices.
package onetoone

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log/audit"
)

// TestVerification1: start orchestrated session from shared chat with selected local agent.
func TestVerification1(t *testing.T) {
	f := newFlow(t)
	f.limits.MaxTurns = 1
	all := f.run()
	opened := find[room.Opened](all)[0].Spec
	if !opened.OneToOne || opened.Objective == "" {
		t.Errorf("opened as %+v", opened)
	}
	if g := find[room.TurnGranted](all); len(g) != 1 || g[0].Participant != "mine" {
		t.Errorf("the local agent does not begin: %+v", g)
	}
	joined := find[room.Joined](all)
	if joined[0].Participant.Profile != "orchestrator" || joined[1].Participant.Device != f.bob.self.ID().String() {
		t.Errorf("seated are %+v", joined)
	}
}

// TestVerification2: confirm loop: local draft -> remote send -> remote response -> local
// follow-up.
func TestVerification2(t *testing.T) {
	f := newFlow(t)
	f.limits.MaxTurns = 3
	f.mine = says(func(p endpoint.Prompt) string { return fmt.Sprintf("question %d after %q", p.Turn, newest(p)) })
	f.theirs = says(func(p endpoint.Prompt) string {
		if p.Host.Device != f.ann.self.ID().String() || p.Host.Name != "ann" || p.You.ID != "theirs" {
			t.Errorf("bob's agent is told that the room is of %+v", p.Host)
		}
		for _, s := range p.Seats {
			if s.SameOwner && s.ID != "theirs" {
				t.Errorf("bob's agent takes %s for one of its owner", s.ID)
			}
		}
		return "answer to " + newest(p)
	})
	var texts []string
	for _, m := range find[room.MessagePosted](f.run()) {
		texts = append(texts, m.Message.From+": "+m.Message.Text)
	}
	want := []string{
		`mine: question 1 after ""`,
		`theirs: answer to question 1 after ""`,
		`mine: question 3 after "answer to question 1 after \"\""`,
	}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		t.Errorf("said was\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
}

// TestVerification3: confirm manual mode requires approval before each send.
func TestVerification3(t *testing.T) {
	f := newFlow(t)
	f.mode, f.limits.MaxTurns, f.hosts = room.Manual, 4, true
	var asked atomic.Int32
	f.theirs = says(func(p endpoint.Prompt) string { asked.Add(1); return "heard " + newest(p) })
	r := f.open()
	stop := f.runInBackground(r)
	after := int64(0)
	for n := range int32(2) {
		e := f.until(r, after, body[room.TurnDrafted])
		if asked.Load() != n || f.wire.dataOf(f.ann) > 0 && n == 0 {
			t.Fatalf("draft %d waits, and bob's agent was asked %d times", n+1, asked.Load())
		}
		f.do(r, room.Approve{Draft: e.Body.(room.TurnDrafted).Draft})
		after = e.Seq
	}
	f.until(r, 0, body[room.Stopped])
	stop()
	for _, m := range find[room.MessagePosted](f.events()) {
		if m.Auto && m.Message.From == "mine" {
			t.Errorf("%q was sent by itself", m.Message.Text)
		}
	}
	if n := len(find[room.TurnApproved](f.events())); n != 2 || asked.Load() != 2 {
		t.Errorf("%d approvals, %d questions to bob's agent", n, asked.Load())
	}
}

// TestVerification3SemiAuto checks that each rule that matches, or cannot be
// evaluated, holds the draft for review, and nothing is sent before.
func TestVerification3SemiAuto(t *testing.T) {
	sure := 0.9
	for name, c := range map[string]struct {
		review room.Review
		text   string
		sure   *float64
		want   string
	}{
		"confidence unknown": {text: "x", want: "confidence unknown"},
		"length":             {room.Review{LongerThan: 3}, "long text", &sure, "longer than 3"},
		"words":              {room.Review{Words: []string{"secret"}}, "a Secret", &sure, "contains"},
		"pattern":            {room.Review{Patterns: []string{`\d{4}`}}, "pin 1234", &sure, "matches"},
		"pattern that errs":  {room.Review{Patterns: []string{`(`}}, "fine", &sure, "cannot be applied"},
		"remote":             {room.Review{Remote: true}, "fine", &sure, "another owner"},
		"first contact":      {room.Review{FirstContact: true}, "fine", &sure, "first message"},
		"none":               {room.Review{Words: []string{"secret"}, LongerThan: 100, Patterns: []string{"^never$"}}, "fine", &sure, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.mode, f.review, f.limits.MaxTurns, f.hosts = room.SemiAuto, c.review, 2, true
			f.mine = func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
				return endpoint.Reply{Outcome: endpoint.Said, Text: c.text, Confidence: c.sure}, nil
			}
			r := f.open()
			defer f.runInBackground(r)()
			e := f.until(r, 0, func(e room.Event) bool { return body[room.TurnDrafted](e) || body[room.MessagePosted](e) })
			d, held := e.Body.(room.TurnDrafted)
			if held != (c.want != "") || !strings.Contains(d.Why, c.want) {
				t.Errorf("held back: %t, because %q; want %q", held, d.Why, c.want)
			}
		})
	}
}

// TestVerification4: confirm full-auto runs until max-turn stop condition.
func TestVerification4(t *testing.T) {
	f := newFlow(t)
	all := f.run()
	if n := len(find[room.MessagePosted](all)); n != 8 { // the note's default
		t.Errorf("%d messages, want 8", n)
	}
	if s := find[room.Stopped](all); len(s) != 1 || s[0].Name != "maxTurns" {
		t.Errorf("ended with %+v", s)
	}
}

// TestVerification5: confirm pause/resume/stop work without breaking E2EE session integrity.
func TestVerification5(t *testing.T) {
	f := newFlow(t)
	f.hosts, f.limits.MaxTurns = true, 6
	working := make(chan struct{}, 10)
	var turns, cancelled atomic.Int32
	f.theirs = func(ctx context.Context, p endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
		switch turns.Add(1) {
		case 1: // paused meanwhile
			working <- struct{}{}
			<-ctx.Done()
			cancelled.Add(1)
			return endpoint.Reply{}, ctx.Err()
		case 3: // stopped meanwhile, before the room reaches its limit of turns
			<-ctx.Done()
			return endpoint.Reply{}, ctx.Err()
		}
		return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("turn ", p.Turn)}, nil
	}
	r := f.open()
	stop := f.runInBackground(r)
	<-working
	before := f.wire.count(kindOpening)
	f.do(r, room.Pause{})
	paused := f.events()[len(f.events())-1].Seq
	f.do(r, room.Resume{})
	f.until(r, paused, func(e room.Event) bool {
		b, ok := e.Body.(room.MessagePosted)
		return ok && b.Message.From == "theirs"
	})
	f.do(r, room.Stop{})
	stop()
	if n := f.wire.count(kindOpening); n != before {
		t.Errorf("%d more handshakes, want none", n-before)
	}
	if v := find[room.Violation](f.events()); len(v) != 0 {
		t.Errorf("violations: %+v", v)
	}
	if s := find[room.Stopped](f.events()); len(s) != 1 || s[0].Cause != room.CausePerson || cancelled.Load() != 1 {
		t.Errorf("stopped %+v, %d cancelled", s, cancelled.Load())
	}
}

// TestVerification6: confirm policy blocks disallowed target. The caller blocks
// it, although the responder would accept.
func TestVerification6(t *testing.T) {
	for name, rules := range map[string]func(f *flow) quota.Profile{
		"default":      func(*flow) quota.Profile { return quota.Profile{Name: "orchestrator"} },
		"not enabled":  func(f *flow) quota.Profile { p := allows("orchestrator", f.bob); p.Allow = false; return p },
		"other device": func(f *flow) quota.Profile { return allows("orchestrator", f.ann) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t)
			f.annRules = rules(f)
			asked := false
			f.theirs = says(func(endpoint.Prompt) string { asked = true; return "gladly" })
			all := f.run()
			if n := f.wire.dataOf(f.ann); asked || n > 0 {
				t.Errorf("bob's agent was asked: %t; ann's device sent %d messages", asked, n)
			}
			failed := find[room.TurnFailed](all)
			if len(failed) != 1 || failed[0].Code != room.FailDenied || !strings.Contains(failed[0].Error, "RELAY-DENIED") {
				t.Errorf("failed with %+v", failed)
			}
			if s := find[room.SeatChanged](all); len(s) != 1 || s[0].Standing != room.Suspended {
				t.Errorf("the seat: %+v", s)
			}
			if book := f.ann.audited(t); !strings.Contains(book, `"status":"refused"`) || !strings.Contains(book, f.bob.self.ID().String()) {
				t.Errorf("the host log says nothing of it:\n%s", book)
			}
		})
	}
	t.Run("responder", func(t *testing.T) { // and the other way round
		f := newFlow(t)
		f.bobRules = quota.Profile{Name: "reviewer"}
		asked := false
		f.theirs = says(func(endpoint.Prompt) string { asked = true; return "gladly" })
		all := f.run()
		if failed := find[room.TurnFailed](all); asked || len(failed) != 1 || failed[0].Code != room.FailDenied {
			t.Errorf("asked %t, failed %+v", asked, failed)
		}
		if book := f.bob.audited(t); !strings.Contains(book, `"status":"refused"`) {
			t.Errorf("bob's host log says nothing of it:\n%s", book)
		}
	})
}

func (o *owner) audited(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.dir, audit.FileName))
	must(t, err)
	return string(b)
}
