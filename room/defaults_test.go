package room_test

import (
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
)

// TestDefaults checks the defaults that the documentation states.
func TestDefaults(t *testing.T) {
	one, many := room.Defaults(true), room.Defaults(false)
	for _, c := range []struct {
		name            string
		got1, got       any
		want1, wantMany any
	}{
		{"maxTurns", one.MaxTurns, many.MaxTurns, 8, 40},
		{"maxDuration", one.MaxDuration, many.MaxDuration, 10 * time.Minute, 30 * time.Minute},
		{"maxFailures", one.MaxFailures, many.MaxFailures, 3, 3},
		{"local turn", one.TurnTimeout, many.TurnTimeout, time.Minute, time.Minute},
		{"local turn with tools", one.ToolTurnTimeout, many.ToolTurnTimeout, 2 * time.Minute, 2 * time.Minute},
		{"remote turn", one.RemoteTimeout, many.RemoteTimeout, 5 * time.Minute, 5 * time.Minute},
		{"max output", one.MaxOutput, many.MaxOutput, 12_000, 12_000},
		{"maxHops", one.MaxHops, many.MaxHops, 2, 2},
		{"maxDeclines", one.MaxDeclines, many.MaxDeclines, 3, 3},
		{"retry after decline", one.DeclineRetry, many.DeclineRetry, 5 * time.Second, 5 * time.Second},
		{"bid time-out", one.BidTimeout, many.BidTimeout, 10 * time.Second, 10 * time.Second},
		{"internal exchanges", one.MaxInternal, many.MaxInternal, 12, 12},
		{"clarification ping-pong", one.MaxPingPong, many.MaxPingPong, 4, 4},
		{"same text", one.SameText, many.SameText, 3, 3},
		{"same text of", one.SameTextOf, many.SameTextOf, 12, 12},
		{"violations", one.MaxViolations, many.MaxViolations, 10, 10},
	} {
		if c.got1 != c.want1 || c.got != c.wantMany {
			t.Errorf("%s: one-to-one %v, others %v; want %v and %v", c.name, c.got1, c.got, c.want1, c.wantMany)
		}
	}
	if c := room.DefaultContext(); c.HistoryTurns != 6 || c.HistoryChars != 24_000 {
		t.Errorf("history is bounded by %d turns and %d characters, want 6 and 24,000", c.HistoryTurns, c.HistoryChars)
	}
}

// The zero Limits means the defaults and never unlimited.
func TestZeroLimits(t *testing.T) {
	s := &script{}
	s.do(t, discard(), "open a b")
	if s.state.Limits != room.Defaults(false) {
		t.Errorf("a room without limits has %+v", s.state.Limits)
	}
	s = &script{}
	s.do(t, discard(), "open one-to-one a b")
	if s.state.Limits != room.Defaults(true) {
		t.Errorf("a one-to-one room without limits has %+v", s.state.Limits)
	}
}
