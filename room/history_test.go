package room_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestWindowLimits checks windows that fit exactly, and the order of private and
// public messages. A message has two tokens.
func TestWindowLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		context  room.Context
		verbatim int
		lines    int
		omitted  int
	}{
		{"all fit exactly", room.Context{Tokens: 8}, 4, 0, 0},
		{"one too many", room.Context{Tokens: 7, SummaryTokens: 8}, 3, 1, 0},
		{"one token short of a line", room.Context{Tokens: 7, SummaryTokens: 7}, 3, 0, 1},
		{"the newest is always given", room.Context{Tokens: 1, SummaryTokens: 16}, 1, 2, 1},
	} {
		b := &bench{T: t}
		open := openAct(t, "a b me/human")
		open.Spec.Context = c.context
		if err := b.act(room.ActorHost, open); err != nil {
			t.Fatal(err)
		}
		b.play("claim", "whispers b a 12345678", "say 12345678", "say 12345678", "whispers b a 12345678")
		w := b.state.WindowFor("a")
		n := map[string]int{}
		for _, e := range b.log {
			if _, ok := e.Body.(room.MessagePosted); ok {
				n[partOf(w, e.Seq)]++
			}
		}
		if n["verbatim"] != c.verbatim || n["line"] != c.lines || n["omitted"] != c.omitted {
			t.Errorf("%s: %v in %+v", c.name, n, w)
		}
	}
	for chars, want := range map[int]int{16: 3, 15: 2} { // of history before the catch-up
		b := &bench{T: t}
		open := openAct(t, "a b/remembers me/human")
		open.Spec.Context = room.Context{HistoryChars: chars, SummaryTokens: 1}
		if err := b.act(room.ActorHost, open); err != nil {
			t.Fatal(err)
		}
		b.play("claim", "say 12345678", "say 12345678", "speak b go", "pass", "forgot b", "say 12345678")
		w := b.state.WindowFor("b")
		n := 0
		for _, e := range b.log {
			if _, ok := e.Body.(room.MessagePosted); ok && partOf(w, e.Seq) == "verbatim" {
				n++
			}
		}
		if n != want {
			t.Errorf("with %d characters of history %d messages are given: %+v", chars, n, w)
		}
	}
	b := &bench{T: t}
	open := openAct(t, strings.Join(seatNames(20), " "))
	open.Spec.Context = room.Context{Tokens: 1, SummaryTokens: 1}
	if err := b.act(room.ActorHost, open); err != nil {
		t.Fatal(err)
	}
	b.play("claim")
	for _, id := range seatNames(19) {
		b.play("posts " + id + " 1234 from " + id)
	}
	if o := b.state.WindowFor("p19").Omitted; len(o) != 1 || len(o[0].By) != 16 || o[0].Messages != 18 {
		t.Errorf("omitted %+v", o)
	}
}

func seatNames(n int) []string {
	var out []string
	for i := range n {
		out = append(out, "p"+strconv.Itoa(i))
	}
	return out
}

func partOf(w room.Window, seq int64) string {
	in := func(spans []room.Span) bool {
		for _, p := range spans {
			if seq >= p.From && seq <= p.To {
				return true
			}
		}
		return false
	}
	switch {
	case in(w.Verbatim):
		return "verbatim"
	case in(w.Lines):
		return "line"
	case left(w, seq):
		return "omitted"
	}
	return "lost"
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
	if most, err := b.state.Input(b.state.Policy, 0, func(int64) (string, error) { return "y", nil }); err != nil || most.Truncated {
		t.Errorf("the first input says that it is cut: %v", err)
	}
	at.Through = b.state.Seq - 450
	if some, err := b.state.Input(at, 0, text); err != nil || !some.Truncated || len(some.Events) >= 450 {
		t.Errorf("%d of 450 long events, truncated %t, %v", len(some.Events), some.Truncated, err)
	}
	at.Through = 5
	if most, err := b.state.Input(at, 0, func(int64) (string, error) { return "y", nil }); err != nil || !most.Truncated {
		t.Errorf("an input without its oldest events does not say so: %v", err)
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
