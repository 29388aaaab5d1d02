package room_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// TestUnknownParticipants checks that commands which name a participant that is
// not there are refused or ignored, and that foreign events change nothing.
func TestUnknownParticipants(t *testing.T) {
	b := opened(t, "a b me/human")
	for _, do := range []room.Act{
		room.Started{Participant: "ghost"},
		room.Exited{Participant: "ghost"},
		room.Forgot{Participant: "ghost"},
		room.Violated{Participant: "ghost"},
		room.Exited{Participant: "a"},
		room.Posted{Message: room.Message{Text: "x"}},
	} {
		n := len(b.log)
		_ = b.act("ghost", do)
		if len(b.log) != n {
			t.Errorf("%T was recorded as %T", do, b.log[n].Body)
		}
	}
	if _, ok := b.state.TryWindowFor("ghost"); !ok {
		t.Error("the window of a ghost needs more messages")
	}
	for range 2 { // without a turn, then with one
		before, work := b.state.View(room.Internal), len(b.state.Effects())
		for _, body := range []room.Body{
			room.TurnEdited{Turn: 1},
			room.TurnDrafted{Turn: 9},
			room.TurnEdited{Turn: 9},
			room.TurnPassed{Turn: 9},
			room.TurnFailed{Turn: 9},
			room.TurnInterrupted{Turn: 9},
			room.TurnRejected{Turn: 9},
			room.SeatReady{Participant: "ghost"},
			room.SeatFailed{Participant: "ghost"},
			room.SeatTaken{Participant: "ghost"},
		} {
			b.state.Apply(room.Event{Seq: b.state.Seq, Clock: b.state.Clock, Body: body})
		}
		after := b.state.View(room.Internal)
		if work != len(b.state.Effects()) || before.Phase != after.Phase || before.State != after.State || before.Tally != after.Tally {
			t.Errorf("foreign events made %+v of %+v", after, before)
		}
		b.log = nil
		b = opened(t, "a/starts b me/human")
		b.play("started a", "speak a go")
	}
}

// TestForgottenMemory checks when the loss of a memory is news.
func TestForgottenMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		seat  string
		news  bool
	}{
		{"it has spoken", []string{"speak a go", "said x"}, "a", true},
		{"it has nothing to forget", nil, "a", false},
		{"another has the turn", []string{"speak b go"}, "a", false},
		{"it keeps no memory", []string{"speak b go", "said x"}, "b", false},
		{"the room has ended", []string{"speak a go", "said x", "stop"}, "a", false},
		{"it is muted", []string{"speak a go", "said x", "standing a muted"}, "a", false},
	} {
		b := opened(t, "a/remembers b me/human")
		b.play(c.lines...)
		n := len(b.log)
		b.play("forgot " + c.seat)
		if news := len(b.log) > n; news != c.news {
			t.Errorf("%s: recorded %t", c.name, news)
		}
	}
}

// TestStartsRefused checks the ends of starts that the room does not wait for.
func TestStartsRefused(t *testing.T) {
	b := opened(t, "a/starts b me/human maxFailures=9")
	attempt := b.state.Seats[0].Starting
	for _, do := range []room.Started{{Participant: "a", Attempt: attempt + 1}, {Participant: "b"}} {
		if b.act(do.Participant, do) == nil {
			t.Errorf("%+v was taken", do)
		}
	}
	b.play("pause")
	if b.act("a", room.Started{Participant: "a", Attempt: attempt}) == nil {
		t.Error("a start of a paused room was taken")
	}
	b.play("resume", "started a", "speak a go")
	if err := b.act("a", room.Failed{Turn: b.turn(), Request: b.request(), Code: room.FailAgent, Error: "no"}); err != nil {
		t.Fatal(err)
	}
	if b.state.Seats[0].Starting != 0 {
		t.Error("an agent that answered with an error is started again")
	}
	b.play("speak a go", "said x")
	if b.state.WindowFor("a"); b.state.Seats[0].NeedsFullContext {
		t.Fatal("a knows everything")
	}
	b.play("exited a failed gone")
	if x := b.state.Seats[0]; !x.NeedsFullContext || x.Failed != 2 {
		t.Errorf("after the end of a process: %+v", x)
	}
	b.play("decline nothing", "started a")
	if b.state.LastNews != b.state.Seq {
		t.Error("the policy that declined meanwhile is not asked again")
	}
	b.play("exited a failed gone", "decline nothing", "start-fails a failed again")
	if b.state.LastNews != b.state.Seq {
		t.Error("the policy that declined meanwhile does not hear that the start failed")
	}
	b.play("speak b go", "said y", "started a")
	if b.state.LastNews == b.state.Seq {
		t.Error("a start is news to a policy that has not declined")
	}
}

// TestDraftInterrupted checks that an agent whose draft is dropped is not started
// again: it has answered.
func TestDraftInterrupted(t *testing.T) {
	b := opened(t, "a/starts/manual b")
	b.play("started a", "speak a go", "said x")
	b.state.Apply(room.Event{Seq: b.state.Seq + 1, Body: room.TurnInterrupted{Turn: 1}})
	if b.state.Seats[0].Starting != 0 {
		t.Error("it is starting")
	}
}

// TestLoweredLoopGuard checks that the guard against repeated texts looks only at
// as many texts as its limit says.
func TestLoweredLoopGuard(t *testing.T) {
	b := opened(t, "a b me/human")
	b.play("speak a go", "said x", "speak b go", "said y")
	l := b.state.Limits
	l.SameText, l.SameTextOf = 2, 2
	if err := b.act("me", room.SetLimits{Limits: l}); err != nil {
		t.Fatal(err)
	}
	b.play("speak a go", "said x")
	if b.state.Phase != room.PhaseLive {
		t.Errorf("%+v", b.state.Ending)
	}
}

// TestSeatViews checks what a roster says of seats that cannot speak.
func TestSeatViews(t *testing.T) {
	b := opened(t, "a/cooldown:2/maxTokens:5 b/maxTokens:5 me/human")
	b.play("speak a go", "said hello", "speak b go", "said hi")
	for i, want := range []room.SeatView{{Phase: "cooling", Cooling: 1}, {Phase: "idle", Why: "token budget used"}, {Phase: "idle"}} {
		if got := b.state.View(room.Internal).Seats[i]; got.Phase != want.Phase || got.Why != want.Why || got.Cooling != want.Cooling {
			t.Errorf("%s: %s %s %d, want %+v", got.ID, got.Phase, got.Why, got.Cooling, want)
		}
	}
	b.play("takeover a")
	for i, want := range []string{"host", "", ""} {
		if got := b.state.View(room.UserVisible).Seats[i].TakenBy; got != want {
			t.Errorf("seat %d is taken by %q, want %q", i, got, want)
		}
	}
}

// TestOpenRefused checks the ids of a new room.
func TestOpenRefused(t *testing.T) {
	for _, roster := range []string{"a a", "a/human", "host", "a broadcast", "a  /human"} {
		open := openAct(t, roster)
		var s room.State
		if _, err := s.Decide(room.Command{Do: open}, room.Now{}); err == nil {
			t.Errorf("a room of %q was opened", roster)
		}
	}
}

// TestJoinLimits checks the size of the roster and the ids of those who join.
func TestJoinLimits(t *testing.T) {
	b := opened(t, "a me/human")
	join := func(id string) error {
		return b.act("me", room.Join{Participant: room.Participant{ID: id, Kind: policy.Human, Device: "dev"}})
	}
	for _, id := range []string{"", "two\nlines", strings.Repeat("x", 129)} {
		if join(id) == nil {
			t.Errorf("%q joined", id)
		}
	}
	for n := len(b.state.Seats); n <= 256; n++ {
		id := "p" + strconv.Itoa(n)
		do := room.Join{Participant: room.Participant{ID: id, Kind: policy.Human, Device: "dev"}}
		if _, err := b.state.Decide(room.Command{Actor: "me", Do: do}, room.Now{}); (err == nil) != (n < 256) {
			t.Fatalf("joining a room of %d: %v", n, err)
		}
		b.state.Apply(room.Event{Seq: b.state.Seq + 1, Body: room.Joined(do)})
	}
}

// TestErrorKinds checks the errors that callers branch on, and that they say what
// to do.
func TestErrorKinds(t *testing.T) {
	b := opened(t, "a me/human")
	b.play("me: say-id m1 hello")
	for _, c := range []struct {
		actor string
		do    room.Act
		want  error
	}{
		{"a", room.Pause{}, room.ErrDenied},
		{"me", room.Say{Text: "other", MessageID: "m1"}, room.ErrTaken},
		{"me", room.Say{Text: "x", To: "ghost"}, nil},
		{"me", room.Stop{}, nil},
		{"me", room.Resume{}, room.ErrOver},
	} {
		err := b.act(c.actor, c.do)
		var told *problem.Error
		if c.want != nil && !errors.Is(err, c.want) || err != nil && (!errors.As(err, &told) || told.Fix == "") {
			t.Errorf("%T: %v", c.do, err)
		}
	}
}

// TestExactLimits checks that a limit may be reached and not passed.
func TestExactLimits(t *testing.T) {
	reply := func(text string, tokens int64) room.Replied {
		return room.Replied{Reply: endpoint.Reply{Text: text, Usage: room.Usage{Known: true, Input: tokens}}}
	}
	for _, c := range []struct {
		name, line string
		text       string
		tokens     int64
		grants     bool // the next turn is granted
	}{
		{"the prompt fits exactly", "a b maxTokens=30", "x", 20, true},
		{"the prompt is one over", "a b maxTokens=29", "x", 20, false},
		{"the tokens are used", "a b maxTokens=20", "x", 20, false},
		{"the cost fits exactly", "a/price:1000000 b/price:1000000 maxCost=30", "x", 20, true},
		{"the cost is one over", "a/price:1000000 b/price:1000000 maxCost=29", "x", 20, false},
		{"the cost is used", "a/price:1000000 b maxCost=20", "x", 20, false},
		{"the longest answer", "a b maxOutput=5", strings.Repeat("𝄞", 5), 1, true},
	} {
		b := opened(t, c.line)
		b.play("speak a go")
		b.replied(reply(c.text, c.tokens))
		if used := strings.HasSuffix(c.name, "used"); used != (b.state.Phase == room.PhaseStopped) {
			t.Errorf("%s: %s after the reply", c.name, b.state.Phase)
		}
		b.play("speak b go")
		if b.state.Tally.Errors > 0 || (b.state.Turn != nil) != c.grants || c.grants == (b.state.Phase == room.PhaseStopped) {
			t.Errorf("%s: %s, turn %v, %+v", c.name, b.state.Phase, b.state.Turn != nil, b.state.Ending)
		}
		if !c.grants && !strings.Contains(b.state.Ending.Reason, "limit max") || strings.HasSuffix(c.name, "one over") && !strings.Contains(b.state.Ending.Reason, "next prompt") {
			t.Errorf("%s: the reason is %q", c.name, b.state.Ending.Reason)
		}
	}
	b := opened(t, "a/maxTokens:20 b")
	b.play("speak a go")
	b.replied(reply("x", 20))
	b.play("speak a again")
	if b.state.Phase != room.PhasePaused {
		t.Error("a seat without tokens got the floor")
	}
	for wait, ends := range map[time.Duration]bool{time.Minute + time.Second - 1: false, time.Minute + time.Second: true} {
		b := opened(t, "a b")
		b.play("speak a go")
		b.clock += wait
		b.play("tick")
		if ended := b.state.Turn == nil; ended != ends {
			t.Errorf("after %v the turn has ended: %t", wait, ended)
		}
	}
}

// TestReviewRules checks when a message is shown to a person first.
func TestReviewRules(t *testing.T) {
	local := func(p room.Participant) room.Participant {
		p.ID, p.Kind, p.Mode = "a", policy.Local, room.SemiAuto
		return p
	}
	other := room.Participant{ID: "b", Kind: policy.Local}
	for _, c := range []struct {
		name   string
		review room.Review
		other  room.Participant
		remove bool
		drafts bool
	}{
		{"nothing", room.Review{}, other, false, false},
		{"a pattern that matches", room.Review{Patterns: []string{"^hel+o$"}}, other, false, true},
		{"a pattern that does not match", room.Review{Patterns: []string{"^x+$"}}, other, false, false},
		{"as long as allowed", room.Review{LongerThan: 5}, other, false, false},
		{"longer", room.Review{LongerThan: 4}, other, false, true},
		{"nobody else's", room.Review{Remote: true}, other, false, false},
		{"another device", room.Review{Remote: true}, room.Participant{ID: "b", Kind: policy.Remote}, false, true},
		{"another owner", room.Review{Remote: true}, room.Participant{ID: "b", Kind: policy.Human, Owner: "bo", Device: "d"}, false, true},
		{"another owner who left", room.Review{Remote: true}, room.Participant{ID: "b", Kind: policy.Human, Owner: "bo", Device: "d"}, true, false},
		{"first contact", room.Review{FirstContact: true}, room.Participant{ID: "b", Kind: policy.Remote}, false, true},
	} {
		b := &bench{T: t}
		open := room.Open{Spec: room.Spec{Room: "r1"}, Participants: []room.Participant{local(room.Participant{Review: c.review}), c.other}}
		if err := b.act(room.ActorHost, open); err != nil {
			t.Fatal(err)
		}
		if c.remove {
			b.play("standing b removed")
		}
		b.play("speak a go", "said 90% hello")
		if drafted := b.state.Turn != nil; drafted != c.drafts {
			t.Errorf("%s: drafted %t", c.name, drafted)
		}
	}
}

// TestUncleanTexts checks that what people, agents and policies give is stored
// without what a log cannot hold.
func TestUncleanTexts(t *testing.T) {
	const clean = "\uFFFD no UTF-8 \uFFFD"
	b := opened(t, "a b me/human")
	d := policy.Speak("a", bad)
	if err := b.act(room.ActorPolicy, room.Decided{Decision: d, Record: policy.Record{Decision: 1, Through: b.state.Seq}, Grant: room.Grant{Request: "q"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.log[len(b.log)-1].Body.(room.TurnGranted).Reason; got != clean {
		t.Errorf("reason %q", got)
	}
	if err := b.act("a", room.Posted{Message: room.Message{Text: bad, Summary: bad, Kind: bad}}); err != nil {
		t.Fatal(err)
	}
	if m := b.log[len(b.log)-1].Body.(room.MessageDead).Message; m.Text != clean || m.Summary != clean || m.Kind != clean {
		t.Errorf("dead letter %+v", m)
	}
	if err := b.act("a", room.Posted{Message: room.Message{Text: bad, Summary: bad}}); err != nil {
		t.Fatal(err)
	}
	if m := b.log[len(b.log)-1].Body.(room.MessagePosted).Message; m.Text != clean || m.Summary != clean || m.Visibility != room.UserVisible {
		t.Errorf("message %+v", m)
	}
	over := 1.5
	b.replied(room.Replied{Reply: endpoint.Reply{Text: "sure", Confidence: &over, ToolRounds: -2}})
	if m := b.log[len(b.log)-1].Body.(room.MessagePosted).Message; m.Confidence != nil || m.ToolRounds != 0 {
		t.Errorf("confidence %v, %d tool rounds", m.Confidence, m.ToolRounds)
	}
	d = policy.Speak("b", "go")
	d.Confidence = &over
	if err := b.act(room.ActorPolicy, room.Decided{Decision: d, Record: policy.Record{Decision: 2, Through: b.state.Seq}}); err != nil {
		t.Fatal(err)
	}
	if got := b.state.Ending.Reason; !strings.HasSuffix(got, "its confidence is no number from 0 to 1") {
		t.Errorf("paused because %q", got)
	}
	b = opened(t, "a b")
	b.play("speak a go")
	if err := b.act("a", room.Failed{Turn: 1, Request: b.request(), Code: room.FailExited, Error: "boom\n  at line 1"}); err != nil {
		t.Fatal(err)
	}
	if x := b.log[len(b.log)-1].Body.(room.SeatChanged); x.Reason != "boom" {
		t.Errorf("suspended because %q", x.Reason)
	}
	summary := room.Event{Body: room.SummaryMade{By: "a", Text: "private"}}.Redacted()
	if summary.Body.(room.SummaryMade).Text != "" {
		t.Error("a redacted summary keeps its text")
	}
}

// TestBidsOfAnotherPolicy checks that a new policy gets new bids.
func TestBidsOfAnotherPolicy(t *testing.T) {
	b := opened(t, "a b bids")
	b.play("bid a 0.5")
	if err := b.act(room.ActorHost, room.SetPolicy{Policy: room.PolicyRef{Name: "other", Needs: policy.Needs{Bids: true}}}); err != nil {
		t.Fatal(err)
	}
	if n := len(b.state.Effects()); n != 2 {
		t.Errorf("%d bids are asked for", n)
	}
}

// TestCut: a message keeps that its answer ended at a limit of the model.
func TestCut(t *testing.T) {
	for _, cut := range []bool{false, true} {
		b := opened(t, "a b")
		b.play("speak a go")
		b.replied(room.Replied{Reply: endpoint.Reply{Text: "half an ans", Cut: cut}})
		if m := b.log[len(b.log)-1].Body.(room.MessagePosted).Message; m.Cut != cut {
			t.Errorf("the message is cut: %t, want %t", m.Cut, cut)
		}
	}
}
