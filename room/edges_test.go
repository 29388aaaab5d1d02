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
	for range 2 { // without a turn, then with one
		before := b.state.View(room.Internal)
		for _, body := range []room.Body{
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
		if before.Phase != after.Phase || before.State != after.State || before.Tally != after.Tally {
			t.Errorf("foreign events made %+v of %+v", after, before)
		}
		b.log = nil
		b = opened(t, "a b me/human")
		b.play("speak a go")
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
	for i := len(b.state.Seats); i < 256; i++ {
		if err := join("p" + strings.Repeat("x", i%100) + string(rune('a'+i/100))); err != nil {
			t.Fatal(err)
		}
	}
	if join("last") == nil {
		t.Error("a participant joined a full room")
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
		b.play("speak b go")
		if b.state.Tally.Errors > 0 || (b.state.Turn != nil) != c.grants || c.grants == (b.state.Phase == room.PhaseStopped) {
			t.Errorf("%s: %s, turn %v, %+v", c.name, b.state.Phase, b.state.Turn != nil, b.state.Ending)
		}
		if !c.grants && !strings.Contains(b.state.Ending.Reason, "limit max") {
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
	if m := b.log[len(b.log)-1].Body.(room.MessagePosted).Message; m.Text != clean || m.Summary != clean || m.Kind != clean || m.Visibility != room.UserVisible {
		t.Errorf("message %+v", m)
	}
	over := 1.5
	b.replied(room.Replied{Reply: endpoint.Reply{Text: "sure", Confidence: &over}})
	if m := b.log[len(b.log)-1].Body.(room.MessagePosted).Message; m.Confidence != nil {
		t.Errorf("confidence %v", *m.Confidence)
	}
	d = policy.Speak("b", "go")
	d.Confidence = &over
	if err := b.act(room.ActorPolicy, room.Decided{Decision: d, Record: policy.Record{Decision: 2, Through: b.state.Seq}}); err != nil {
		t.Fatal(err)
	}
	if got := b.state.Ending.Reason; !strings.HasSuffix(got, "its confidence is no number from 0 to 1") {
		t.Errorf("paused because %q", got)
	}
	summary := room.Event{Body: room.SummaryMade{By: "a", Text: "private"}}.Redacted()
	if summary.Body.(room.SummaryMade).Text != "" {
		t.Error("a redacted summary keeps its text")
	}
}

// TestUnreadMessages checks how many messages count as unread, and that a turn
// reads those that it was given.
func TestUnreadMessages(t *testing.T) {
	b := opened(t, "a b me/human")
	unread := func() int {
		in, err := b.state.Input(b.state.Policy, b.clock, nil)
		if err != nil {
			t.Fatal(err)
		}
		return in.Agents[0].Unread
	}
	tell := func() {
		b.T.Helper()
		evs, err := b.state.Decide(room.Command{Actor: "me", Do: room.Say{Text: "a", To: "a"}}, room.Now{Clock: b.clock})
		if err != nil {
			t.Fatal(err)
		}
		b.state.Apply(evs[0])
		b.log = append(b.log, evs...)
	}
	for range 1001 {
		tell()
	}
	if n := unread(); n != 1000 {
		t.Errorf("%d of 1001 are counted", n)
	}
	b = opened(t, "a b me/human")
	tell()
	b.play("speak a go")
	tell()
	b.play("pass")
	if n := unread(); n != 1 {
		t.Errorf("%d are unread after the turn", n)
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

// TestLongHistory checks the input of a policy that is asked after more events
// than one input holds.
func TestLongHistory(t *testing.T) {
	b := opened(t, "a b c me/human maxTurns=2000")
	at := b.state.Policy
	for range policy.MaxEvents + 20 {
		evs, err := b.state.Decide(room.Command{Actor: "me", Do: room.Say{Text: strings.Repeat("x", 3000)}}, room.Now{})
		if err != nil {
			t.Fatal(err)
		}
		b.state.Apply(evs[0])
	}
	text := func(int64) (string, error) { return strings.Repeat("y", 3000), nil }
	first, err := b.state.Input(at, 0, text)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Init || first.Truncated || len(first.Events) != policy.DefHistory {
		t.Errorf("the first input has %d events, truncated %t", len(first.Events), first.Truncated)
	}
	at.Asked, at.Through = true, 5
	next, err := b.state.Input(at, 0, text)
	if err != nil {
		t.Fatal(err)
	}
	size := len(next.AppendJSON(nil))
	if !next.Truncated || size > policy.MaxInput || size < policy.MaxInput/3 {
		t.Errorf("%d events in %d bytes, truncated %t", len(next.Events), size, next.Truncated)
	}
	for i, e := range next.Events {
		if e.Seq != b.state.Seq-int64(len(next.Events)-1-i) || e.Text == "" {
			t.Fatalf("event %d of %d is %d with %d bytes", i, len(next.Events), e.Seq, len(e.Text))
		}
	}
	at.Through = b.state.Seq - 3
	last, err := b.state.Input(at, 0, text)
	if err != nil || last.Truncated || len(last.Events) != 3 {
		t.Errorf("%d events, truncated %t, %v", len(last.Events), last.Truncated, err)
	}
	rec := policy.Record{AskedAtMS: 1500}
	if in, err := b.state.RecordedInput(&rec, text); err != nil || in.NowMS != 1500 {
		t.Errorf("asked at %d, %v", in.NowMS, err)
	}
}

// TestFollowers checks the counts of who followed whom.
func TestFollowers(t *testing.T) {
	b := opened(t, "a b c me/human")
	for _, id := range []string{"a", "b", "c", "a", "b", "c", "c", "a", "b"} {
		b.play("speak "+id+" go", "said "+id+strconv.Itoa(len(b.log)))
	}
	in, err := b.state.Input(b.state.Policy, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []policy.Followed{{}, {}, {Last: 2, LastTwo: 2}, {}} {
		if got := in.Agents[i].Followed; got != want {
			t.Errorf("%s followed %+v, want %+v", in.Agents[i].ID, got, want)
		}
	}
}
