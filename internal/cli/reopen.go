package cli

import (
	"context"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// runAgain opens a room of the log. Who calls it is the person at whose word
// a paused room goes on.
func (a *app) runAgain(ctx context.Context, f runFlags) error {
	h, err := a.openHost()
	if err != nil {
		return err
	}
	defer h.Close()
	state, err := foldRoom(ctx, h.log, f.room)
	if err != nil {
		return err
	}
	if err := f.trusted(ctx, h.log, state); err != nil {
		return err
	}
	cfg := h.config()
	cfg.Headless, cfg.ResumeAs = f.headless, orElse(person(participants(state), f.as), room.ActorHost)
	if cfg.ResumeWith, err = f.changes(ctx, h, state); err != nil {
		return err
	}
	if err := f.attended(state); err != nil {
		return err
	}
	leaveDemo, err := h.demoAgain(ctx, participants(state), f.headless)
	if err != nil {
		return err
	}
	defer leaveDemo()
	if err := h.dial(ctx, state.Spec, participants(state), f.share); err != nil {
		a.note("remote seats cannot be reached: %v", err) // their turns fail, the others' go on
	}
	r, err := coordinator.Reopen(ctx, cfg, f.room)
	if err != nil {
		return err
	}
	s := stage{app: a, host: h, room: r, headless: f.headless, you: person(participants(state), f.as), after: int64(state.Seq)}
	s.before = state
	return s.run(ctx)
}

// changes are what the flags change of a room before it goes on.
func (f runFlags) changes(ctx context.Context, h *host, s *room.State) ([]room.Act, error) {
	var acts []room.Act
	if f.maxTurns > 0 {
		l := s.Limits
		l.MaxTurns = f.maxTurns
		acts = append(acts, room.SetLimits{Limits: l})
	}
	if f.policy == "" {
		if _, err := moduleOf(ctx, h.log, s.Policy.Ref); err != nil {
			return nil, err
		}
	} else {
		var settings []byte
		if f.policy == s.Policy.Ref.Use {
			settings = s.Policy.Ref.Settings
		}
		ref, err := h.newRef(ctx, ".", f.policy, settings, s.Policy.Ref.Hints)
		if err != nil {
			return nil, err
		}
		acts = append(acts, room.SetPolicy{Policy: ref})
	}
	return acts, checkPerson(participants(s), f.as)
}

// attended refuses a room that would wait for somebody who is not there.
func (f runFlags) attended(s *room.State) error {
	if !f.headless {
		return nil
	}
	for _, x := range s.Seats {
		if x.Driven() && x.Standing == room.Active && (x.Mode == room.Manual || x.Mode == "") {
			return &problem.Error{
				Code: "ROOM-MANUAL", What: fmt.Sprintf("%s is manual: somebody must approve what it says, and --headless means nobody", x.ID),
				Where: "room " + f.room, Fix: "leave --headless out",
			}
		}
	}
	return nil
}

func participants(s *room.State) []room.Participant {
	out := make([]room.Participant, len(s.Seats))
	for i, x := range s.Seats {
		out[i] = x.Participant
	}
	return out
}

// foldRoom rebuilds a room's state from its log, taking no lock.
func foldRoom(ctx context.Context, l log.Reader, id string) (*room.State, error) {
	s := &room.State{}
	err := eachEvent(ctx, l, id, func(e room.Event) error {
		s.Apply(e)
		return nil
	})
	return s, err
}

// eachEvent calls f with every event of a room. A room that is not there is
// an error.
func eachEvent(ctx context.Context, l log.Reader, id string, f func(room.Event) error) error {
	for e, err := range log.Scan(ctx, l, id, log.Pos{}) {
		if err != nil {
			return unknownRoom(id, err)
		}
		if err := f(e.Event); err != nil {
			return err
		}
	}
	return nil
}
