package room_test

import (
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/loops"
)

// TestFollows checks which events can follow the state of a room.
func TestFollows(t *testing.T) {
	grant := func(turn int, id string) room.TurnGranted { return room.TurnGranted{Turn: turn, Participant: id} }
	for _, c := range []struct {
		name  string
		lines []string
		body  room.Body
		want  string // part of the reason; "" if it follows
	}{
		{"a second opening", nil, room.Opened{}, "opened twice"},
		{"the first turn", nil, grant(1, "a"), ""},
		{"a turn that is skipped", nil, grant(2, "a"), "turn 2 after turn 0"},
		{"a turn of nobody", nil, grant(1, "ghost"), "has no seat"},
		{"a turn of a person", nil, grant(1, "me"), "cannot have one"},
		{"a turn of a muted seat", []string{"standing b muted"}, grant(1, "b"), "cannot have one"},
		{"a turn while paused", []string{"pause"}, grant(1, "a"), "the room is paused"},
		{"two turns", []string{"speak a go"}, grant(2, "b"), "turn 1 is open"},
		{"a turn past the limit", []string{"speak b go", "said x", "speak b go", "said y"}, grant(3, "b"), "the room is stopped"},
		{"a resumption", []string{"pause"}, room.Resumed{}, ""},
		{"a resumption of a live room", nil, room.Resumed{}, "live"},
		{"the end of a turn", []string{"speak b go"}, room.MessagePosted{Turn: 1}, ""},
		{"the end of another turn", []string{"speak b go"}, room.MessagePosted{Turn: 2}, "turn 1 is open"},
		{"a draft of the turn", []string{"speak a go"}, room.TurnDrafted{Turn: 1}, ""},
		{"a message outside turns", nil, room.MessagePosted{}, ""},
		{"a message of no turn", nil, room.MessagePosted{Turn: 1}, "no turn is open"},
		{"a draft of no turn", nil, room.TurnDrafted{Turn: 1}, "no turn is open"},
		{"a pass of no turn", nil, room.TurnPassed{Turn: 1}, "no turn is open"},
		{"a failure of no turn", nil, room.TurnFailed{Turn: 1}, "no turn is open"},
		{"an interruption of no turn", nil, room.TurnInterrupted{Turn: 1}, "no turn is open"},
		{"a rejection of no turn", nil, room.TurnRejected{Turn: 1}, "no turn is open"},
		{"an approval without a turn", nil, room.TurnApproved{Turn: 1}, "does not wait"},
		{"an approval without a draft", []string{"speak a go"}, room.TurnApproved{Turn: 1}, "does not wait"},
		{"an approval of another text", []string{"speak a go", "said x"}, room.TurnApproved{Turn: 1, Draft: "other"}, "does not wait"},
		{"an approval of another turn", []string{"speak a go", "said x"}, room.TurnApproved{Turn: 2, Draft: "DRAFT"}, "does not wait"},
		{"an approval", []string{"speak a go", "said x"}, room.TurnApproved{Turn: 1, Draft: "DRAFT"}, ""},
		{"an edit without a turn", nil, room.TurnEdited{Turn: 1}, "does not wait"},
		{"an edit without a draft", []string{"speak a go"}, room.TurnEdited{Turn: 1}, "does not wait"},
		{"an edit of another turn", []string{"speak a go", "said x"}, room.TurnEdited{Turn: 2}, "does not wait"},
		{"a request of the turn", []string{"speak b go"}, room.PermissionAsked{Turn: 1, Participant: "b", ID: "1.1"}, ""},
		{"a second request", []string{"speak b go", "asks read x"}, room.PermissionAsked{Turn: 1, Participant: "b", ID: "1.2"}, ""},
		{"the same request", []string{"speak b go", "asks read x"}, room.PermissionAsked{Turn: 1, Participant: "b", ID: "1.1"}, "1.1 twice"},
		{"a request of another", []string{"speak b go"}, room.PermissionAsked{Turn: 1, Participant: "a", ID: "1.1"}, "does not have the turn"},
		{"a request under a draft", []string{"speak a go", "said x"}, room.PermissionAsked{Turn: 1, Participant: "a", ID: "1.1"}, "does not have the turn"},
		{"a request without a turn", nil, room.PermissionAsked{Turn: 1, Participant: "a", ID: "1.1"}, "no turn is open"},
		{"an answer", []string{"speak b go", "asks read x"}, room.PermissionAnswered{Turn: 1, ID: "1.1"}, ""},
		{"an answer in another turn", []string{"speak b go", "asks read x"}, room.PermissionAnswered{Turn: 2, ID: "1.1"}, "turn 1 is open"},
		{"a second answer", []string{"speak b go", "asks read x", "permit"}, room.PermissionAnswered{Turn: 1, ID: "1.1"}, "does not wait"},
		{"an end before the answer", []string{"speak b go", "asks read x"}, room.TurnPassed{Turn: 1}, "1.1 waits"},
		{"an end after the answer", []string{"speak b go", "asks read x", "permit"}, room.TurnPassed{Turn: 1}, ""},
		{"an edit", []string{"speak a go", "said x"}, room.TurnEdited{Turn: 1}, ""},
	} {
		b := opened(t, "a/manual b me/human maxTurns=2")
		b.play(c.lines...)
		if a, ok := c.body.(room.TurnApproved); ok && a.Draft == "DRAFT" {
			a.Draft = b.draft("")
			c.body = a
		}
		why := b.state.Follows(room.Event{Seq: b.state.Seq + 1, Epoch: b.state.Epoch, Clock: b.clock, Body: c.body})
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
	}
	b := opened(t, "a b me/human maxDuration=1m")
	next := room.Event{Seq: b.state.Seq + 1, Epoch: b.state.Epoch, Clock: time.Minute, Body: grant(1, "a")}
	if why := b.state.Follows(next); !strings.Contains(why, "past the limit maxDuration") {
		t.Errorf("a turn after the end of the time: %q", why)
	}
	next.Clock, next.Seq = 0, next.Seq+1
	if b.state.Follows(next) == "" {
		t.Error("a number is left out")
	}
	next.Seq, next.Epoch = next.Seq-1, next.Epoch-1
	if b.state.Follows(next) == "" {
		t.Error("an epoch is over")
	}
	var unopened room.State
	if unopened.Follows(room.Event{Seq: 1, Body: room.Resumed{}}) == "" || unopened.Follows(room.Event{Seq: 1, Body: room.Opened{}}) != "" {
		t.Error("a log begins with the opening")
	}
}

// TestRaisedLimits checks the limits with which a room that a limit has stopped
// can go on.
func TestRaisedLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits room.Limits
		want   func(*room.Limits)
	}{
		"maxTurns":     {room.Limits{MaxTurns: 3}, func(l *room.Limits) { l.MaxTurns = 14 }}, // 7 were granted
		"maxDuration":  {room.Limits{MaxDuration: time.Minute}, func(l *room.Limits) { l.MaxDuration = 5 * time.Minute }},
		"maxFailures":  {room.Limits{MaxFailures: 1}, func(l *room.Limits) { l.MaxFailures = 4 }},
		"maxTokens":    {room.Limits{MaxTokens: 50}, func(l *room.Limits) { l.MaxTokens = 2*900 + 100 }},
		"maxCost":      {room.Limits{MaxCost: 50}, func(l *room.Limits) { l.MaxCost = 2*800 + 300 }},
		"same-text":    {room.Limits{SameText: 3, SameTextOf: 4}, func(l *room.Limits) { l.SameText, l.SameTextOf = 6, 6 }},
		loops.Ring:     {room.Limits{}, func(l *room.Limits) { l.MaxRing = 40 }},
		loops.PingPong: {room.Limits{}, func(l *room.Limits) { l.MaxPingPong = 8 }},
		loops.Internal: {room.Limits{}, func(l *room.Limits) { l.MaxInternal = 24 }},
		"person":       {room.Limits{MaxTurns: 3}, func(*room.Limits) {}},
	} {
		s := opened(t, "a/price:3000000 b/price:1000000 me/human").state
		s.Limits = room.Defaults(false)
		if c.limits.SameText > 0 {
			s.Limits.SameText, s.Limits.SameTextOf = c.limits.SameText, c.limits.SameTextOf
		}
		for _, set := range []struct {
			to   *int
			from int
		}{{&s.Limits.MaxTurns, c.limits.MaxTurns}, {&s.Limits.MaxFailures, c.limits.MaxFailures}} {
			if set.from > 0 {
				*set.to = set.from
			}
		}
		if c.limits.MaxDuration > 0 {
			s.Limits.MaxDuration = c.limits.MaxDuration
		}
		s.Limits.MaxTokens, s.Limits.MaxCost = c.limits.MaxTokens, c.limits.MaxCost
		s.Bounds.Tokens = 100
		s.Clock = 2*time.Minute + 3*time.Millisecond
		s.Tally = room.Tally{Turns: 7, Failures: 2, Tokens: 900, Cost: 800}
		want := s.Limits
		if live := s.View(room.Internal).Raised; live != want {
			t.Errorf("%s: a live room is given %+v", name, live)
		}
		s.Phase, s.Ending = room.PhaseStopped, room.Ending{Cause: room.CauseLimit, Name: name}
		c.want(&want)
		if got := s.View(room.Internal).Raised; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
