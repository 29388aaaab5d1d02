package room_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// TestSecondAnswer: the answer that comes second changes nothing and is told who was
// first, how and when, also after the draft was posted and after the room has ended.
func TestSecondAnswer(t *testing.T) {
	b := opened(t, "a/manual b me/human")
	b.play("speak a go", "said yes")
	hash := b.state.Turn.Draft.Hash
	first, err := b.state.Decide(room.Command{ID: "x1", Actor: "me", Via: "page", Do: room.Approve{Draft: hash}}, room.Now{})
	if err != nil || len(first) != 2 {
		t.Fatal(first, err)
	}
	for _, e := range first {
		b.state.Apply(e)
		if e.Via != "page" {
			t.Errorf("%s came via %q", e.Body.Type(), e.Via)
		}
	}
	check := func(actor string, do room.Act, kind error, words string) {
		t.Helper()
		events, err := b.state.Decide(room.Command{ID: "x2", Actor: actor, Do: do}, room.Now{})
		if len(events) > 0 || !errors.Is(err, kind) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s %T: %d events, %v", actor, do, len(events), err)
		}
	}
	for _, do := range []room.Act{room.Approve{Draft: hash}, room.Reject{Draft: hash}, room.Edit{Draft: hash, Text: "no"}} {
		check(room.ActorHost, do, room.ErrAnswered, `draft "`+hash+`" was approved by me (page) at 0001-01-01 00:00:00 UTC`)
		check("a", do, room.ErrDenied, "review drafts")
	}
	if b.state.Apply(room.Event{Seq: b.state.Seq + 1, Body: room.Stopped{Cause: room.CausePerson}}); b.state.Phase != room.PhaseStopped {
		t.Fatal(b.state.Phase)
	}
	check("me", room.Approve{Draft: hash}, room.ErrAnswered, "approved by me")
	check("me", room.Approve{Draft: "other"}, room.ErrOver, "")
}

// TestOutcomes: the second answer to a permission request is told how the first ended.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct{ first, want string }{
		{"me: permit", "allowed by me at"},
		{"me: permit-always", "allowed for good by me at"},
		{"me: deny", "denied by me at"},
		{"absent", "refused at"},
		{"withdraw", "cancelled with its turn at"},
		{"tick", "refused because no person answered in time at"},
	} {
		b := opened(t, "a b me/human")
		b.play("speak a go", "asks-always read x")
		if c.first == "tick" {
			b.clock = b.state.Turn.Requests[0].Until()
		}
		b.play(c.first)
		err := b.act("me", room.Permit{ID: "1.1", Allowed: true})
		if !errors.Is(err, room.ErrAnswered) || !strings.Contains(err.Error(), `"1.1" was `+c.want) {
			t.Errorf("after %s: %v", c.first, err)
		}
	}
	b := opened(t, "a b me/human")
	b.play("speak a go", "asks-ruled read x")
	if err := b.act("me", room.Permit{ID: "1.1"}); err == nil || errors.Is(err, room.ErrAnswered) || len(b.state.Answers) > 0 {
		t.Errorf("a rule answers a request that never waited: %v", err)
	}
}

// TestAnswersKept: a room remembers the newest 64 answers, and of an id the newest.
func TestAnswersKept(t *testing.T) {
	s := room.State{Phase: room.PhaseLive}
	answer := func(id, actor string) {
		s.Apply(room.Event{Seq: s.Seq + 1, Actor: actor, Body: room.TurnApproved{Draft: id}})
	}
	for i := range 65 {
		answer(fmt.Sprint(i), "me")
	}
	before := s.Answers
	answer("64", room.ActorHost)
	if len(s.Answers) != 64 || s.Answers[0].Of != "2" || s.Answers[63].By != room.ActorHost || before[0].Of != "1" {
		t.Errorf("%d answers from %s to %+v", len(s.Answers), s.Answers[0].Of, s.Answers[63])
	}
	_, err := s.Decide(room.Command{Actor: room.ActorHost, Do: room.Approve{Draft: "64"}}, room.Now{})
	if !errors.Is(err, room.ErrAnswered) || !strings.Contains(err.Error(), "by host") {
		t.Error(err)
	}
}

// TestVia: an event keeps how the command was given, also as it is stored.
func TestVia(t *testing.T) {
	b, err := room.MarshalEvent(room.Event{Seq: 1, Via: "page", Body: room.Resumed{}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := room.UnmarshalEvent(b); err != nil || e.Via != "page" {
		t.Errorf("%s comes back as %+v, %v", b, e, err)
	}
}

// TestDraftInTime: a draft of a room without draftTimeout waits as long as the room
// lives; the second answer to one that was not sent is told why.
func TestDraftInTime(t *testing.T) {
	b := opened(t, "a/manual b me/human")
	b.play("speak a go", "said yes")
	if at, ok := b.state.DraftDeadline(); ok {
		t.Errorf("it ends at %v", at)
	}
	if err := b.act("me", room.SetLimits{Limits: room.Limits{DraftTimeout: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	if at, ok := b.state.DraftDeadline(); !ok || at != time.Minute {
		t.Errorf("it ends at %v, %t", at, ok)
	}
	hash := b.state.Turn.Draft.Hash
	b.clock = time.Minute
	b.play("tick")
	if e := b.log[len(b.log)-1]; e.Actor != room.ActorRoom || e.Body.Type() != "turn.rejected" {
		t.Errorf("it ended with %s by %s", e.Body.Type(), e.Actor)
	}
	if _, ok := b.state.DraftDeadline(); ok {
		t.Error("what has ended has a time")
	}
	if err := b.act("me", room.Approve{Draft: hash}); !errors.Is(err, room.ErrAnswered) || !strings.Contains(err.Error(), "was not sent because no person answered in time at") {
		t.Error(err)
	}
}

// TestModeNow: a seat without a mode is reviewed by hand.
func TestModeNow(t *testing.T) {
	for _, c := range []struct{ joined, set, want room.Mode }{
		{"", "", room.Manual}, {room.SemiAuto, "", room.SemiAuto}, {room.FullAuto, room.Manual, room.Manual},
	} {
		x := room.Seat{Participant: room.Participant{Mode: c.joined}, SetMode: c.set}
		if got := (room.SeatView{Mode: c.want, ModeSet: c.set != ""}).SetMode(); (got != "") != (c.set != "") || c.set != "" && !strings.Contains(got, string(c.want)) {
			t.Errorf("it is shown as %q", got)
		}
		if got := x.ModeNow(); got != c.want {
			t.Errorf("joined as %q and set to %q it is %q", c.joined, c.set, got)
		}
	}
}

// TestWaiting: what waits is the draft or the requests of the open turn, and shares
// nothing with the state.
func TestWaiting(t *testing.T) {
	b := opened(t, "a/manual b me/human")
	named := room.State{Spec: room.Spec{Room: "r2", Name: "two"}, Limits: room.Limits{DraftTimeout: 7}}
	if w := named.Waiting(); w.Name != "two" || w.Timeout != 7 {
		t.Errorf("of a room with a name: %+v", w)
	}
	if w := b.state.Waiting(); w.Room != "r1" || w.Phase != room.PhaseLive || w.Turn != 0 || w.Draft != nil || w.Requests != nil {
		t.Errorf("nothing waits: %+v", w)
	}
	b.play("speak a go", "asks read x")
	w := b.state.Waiting()
	if len(w.Requests) != 1 || w.Requests[0].ID != "1.1" || w.Turn != 1 || w.Participant != "a" || w.Draft != nil {
		t.Errorf("a request waits: %+v", w)
	}
	b.play("deny 1.1", "said yes", "edit no")
	w = b.state.Waiting()
	if w.Draft == nil || w.Draft.Message.Text != "no" || !w.Draft.Edited || w.Draft.At.IsZero() || w.Requests != nil || len(w.Answers) != 2 {
		t.Errorf("a draft waits: %+v", w)
	}
	w.Draft.Hash, w.Answers[0].Of = "x", "x"
	if b.state.Turn.Draft.Hash == "x" || b.state.Answers[0].Of == "x" {
		t.Error("it shares the state")
	}
}

// TestWaitingChain: what waits in a child room says who called whom, and no caller changes
// the room by it.
func TestWaitingChain(t *testing.T) {
	s := room.State{Spec: room.Spec{Room: "r3", Call: &room.CallOf{Room: "r2", Call: "c7", Caller: "dba", Agent: "coder", Chain: []calls.Link{{Agent: "lead", Room: "r1"}, {Agent: "dba", Room: "r2"}}}}}
	w := s.Waiting()
	if len(w.Chain) != 2 || w.Chain[0] != (calls.Link{Agent: "lead", Room: "r1"}) || w.Chain[1].Agent != "dba" {
		t.Errorf("the chain is %+v", w.Chain)
	}
	if v := s.View(room.Internal).Call; v == nil || len(v.Chain) != 2 || v.Room != "r2" || v.Call != "c7" || v.Caller != "dba" || v.Agent != "coder" {
		t.Errorf("the view has the call %+v", v)
	}
	if v := s.View(room.UserVisible).Call; v != nil {
		t.Errorf("a spectator is told of the call %+v", v)
	}
	w.Chain[0].Agent = "other"
	if s.Spec.Call.Chain[0].Agent != "lead" {
		t.Error("the chain is that of the room itself")
	}
	if s.Spec.Call = nil; s.Waiting().Chain != nil {
		t.Error("a room that no call has made has a chain")
	}
}

// TestRedactedDraft: a draft whose text was redacted cannot be approved, because what
// would be posted is not what the person has read. A new text can.
func TestRedactedDraft(t *testing.T) {
	b := opened(t, "a/manual b me/human")
	b.play("speak a go", "said yes")
	hash := b.state.Turn.Draft.Hash
	b.play(fmt.Sprintf("redact %d", b.state.Seq))
	var s room.State // the coordinator folds the log again without the text
	for _, e := range b.log {
		if _, ok := e.Body.(room.TurnDrafted); ok {
			e = e.Redacted()
		}
		s.Apply(e)
	}
	events, err := s.Decide(room.Command{ID: "x1", Actor: "me", Do: room.Approve{Draft: hash}}, room.Now{})
	if len(events) > 0 || err == nil || !strings.Contains(err.Error(), "was redacted") {
		t.Errorf("%d events, %v", len(events), err)
	}
	events, err = s.Decide(room.Command{ID: "x2", Actor: "me", Do: room.Edit{Draft: hash, Text: "no", Approve: true}}, room.Now{})
	if len(events) != 3 || err != nil {
		t.Errorf("%d events, %v", len(events), err)
	}
}
