package sessions

import (
	"context"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// States of a session.
const (
	Idle      = "idle"
	Streaming = "streaming" // it has the turn, or a message that it has not read
	Failed    = "error"
)

// A State is how a session stands.
type State struct {
	ID     string
	Status string
	Folder string
	Loaded bool   // its room runs in this process
	Ended  string // why the session has ended; "" has not
	Last   *LastMessage
}

// A LastMessage is the newest message of a session that the sender may see.
type LastMessage struct {
	Role string // user or assistant
	Text string
	Time time.Time
}

// State returns how the session with that id stands. It waits as long as the session
// works, at most for wait.
func (s *Sessions) State(ctx context.Context, from Sender, id string, wait time.Duration) (State, error) {
	t, err := s.target(ctx, from, id)
	if err != nil {
		return State{}, err
	}
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		folded, err := coordinator.State(ctx, s.cfg.Host.Log(), t.room)
		if err != nil {
			return State{}, err
		}
		x, _ := folded.Seat(t.seat)
		status := statusOf(folded, x)
		if status != Streaming || wait <= 0 || !s.changed(until, t.room, folded.Seq) {
			return s.describe(ctx, from, id, t, folded, status)
		}
	}
}

// changed waits for an event after seq. It returns false if until ends before.
func (s *Sessions) changed(until context.Context, id string, seq int64) bool {
	for u, err := range s.cfg.Host.Follow(until, id, seq, room.Internal) {
		if err != nil {
			return false
		}
		if u.Event != nil {
			return true
		}
	}
	return false
}

// statusOf returns the status of a seat.
func statusOf(s *room.State, x room.Seat) string {
	switch {
	case s.Phase == room.PhaseError, s.Phase == room.PhaseStopped && s.Ending.Cause != room.CausePerson, x.Standing == room.Suspended:
		return Failed
	case s.Phase == room.PhaseLive && s.Turn != nil && s.Turn.Participant == x.ID, s.Phase == room.PhaseLive && len(x.Inbox) > 0:
		return Streaming
	case x.Failures > 0, s.Phase == room.PhasePaused && s.Ending.Cause == room.CausePolicy:
		return Failed
	}
	return Idle
}

func (s *Sessions) describe(ctx context.Context, from Sender, id string, t target, folded *room.State, status string) (State, error) {
	out := State{ID: id, Status: status, Folder: folded.Spec.Dir, Loaded: s.cfg.Host.Loaded(t.room)}
	x, _ := folded.Seat(t.seat)
	if e, err := config.ExpandEndpoint(x.Endpoint, folded.Spec.Dir, func(string) (string, bool) { return "", true }); err == nil && e.Dir != "" {
		out.Folder = e.Dir
	}
	if r, ok := s.find(t.room); ok {
		out.Folder, out.Ended = r.Folder, r.Ended
	}
	level := room.UserVisible
	if from.Control {
		level = room.Internal
	}
	var err error
	out.Last, err = s.last(ctx, t, folded.Seq, level)
	return out, err
}

// page is how many events last reads at once, and pages how often.
const (
	page  = 64
	pages = 16
)

// last returns the newest message to or from a seat that a reader with that level
// sees, nil if the newest events have none.
func (s *Sessions) last(ctx context.Context, t target, tail int64, level room.Visibility) (*LastMessage, error) {
	for range pages {
		from := max(0, tail-page)
		entries, err := s.cfg.Host.Log().Read(ctx, t.room, log.At(from), int(tail-from))
		if err != nil {
			return nil, err
		}
		for i := len(entries) - 1; i >= 0; i-- {
			e, ok := moot.Visible(entries[i].Event, level)
			m, posted := e.Body.(room.MessagePosted)
			if !ok || !posted || m.Message.From != t.seat && m.Message.To != t.seat && m.Message.To != room.Broadcast {
				continue
			}
			role := "user"
			if m.Message.From == t.seat {
				role = "assistant"
			}
			return &LastMessage{Role: role, Text: m.Message.Text, Time: e.At}, nil
		}
		if tail = from; tail == 0 {
			break
		}
	}
	return nil, nil
}
