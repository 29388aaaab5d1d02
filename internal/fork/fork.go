// Package fork makes a new room of the beginning of another.
package fork

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Log stores rooms, and knows which were imported.
type Log interface {
	log.Appender
	Imported(ctx context.Context, room string) (bool, error)
	Restore(ctx context.Context, room string, entries []log.Entry) error
}

// A Source is the room that is forked. Where is the file that it is from, "" for a
// room of the data folder.
type Source struct {
	Room, Where string
	Entries     iter.Seq2[log.Entry, error]
	// Damaged takes all entries, to the first that is damaged, and lets a room that has
	// ended be forked.
	Damaged bool
}

// A Made room.
type Made struct {
	Room   string    `json:"room"`
	From   room.Fork `json:"forked_from"`
	Events int       `json:"events"`
	Turns  int       `json:"turns"`
}

// Make stores the events of s up to a place as the room with the id as. An id that
// a room has is a [log.ErrConflict].
func Make(ctx context.Context, db Log, s Source, at Place, as string) (Made, error) {
	if err := log.CheckName(as); err != nil {
		return Made{}, err
	}
	events, err := s.prefix(at)
	if err != nil {
		return Made{}, err
	}
	state := rename(events, s.Room, as)
	if ended := state.Phase == room.PhaseStopped || state.Phase == room.PhaseCompleted; ended && !s.Damaged {
		return Made{}, &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%s had ended by %s: %s", s.Room, at, state.Ending.Reason), Where: s.Where,
			Fix: "fork it at an earlier turn",
		}
	}
	made := Made{as, room.Fork{Room: s.Room, Seq: int64(len(events))}, len(events), state.Tally.Turns}
	return made, s.keep(ctx, db, as, events)
}

// prefix returns the events up to a place.
func (s Source) prefix(at Place) ([]room.Event, error) {
	var events []room.Event
	for e, err := range s.Entries {
		if err != nil {
			return nil, err
		}
		if e.Event.Body == nil {
			return nil, &problem.Error{Code: "TRANSCRIPT-READ", What: fmt.Sprintf("of event %d nothing is left", e.Seq), Where: s.Where, Fix: "export the room with --level all"}
		}
		events = append(events, e.Event)
		if at.Ends(e.Event) {
			return events, nil
		}
	}
	if s.Damaged && len(events) > 0 {
		return events, nil
	}
	return nil, at.Missing(s.Room)
}

// rename makes events those of the new room, and returns its state.
func rename(events []room.Event, from, as string) *room.State {
	s := &room.State{}
	for i := range events {
		switch b := events[i].Body.(type) {
		case room.Opened:
			b.Spec.Room = as
			b.Spec.Observers = nil // a room of its own, which its host shows or does not
			if before := b.Spec.ForkedFrom; before != nil {
				b.Spec.Ancestors = append([]room.Fork{*before}, b.Spec.Ancestors...)
			}
			b.Spec.ForkedFrom = &room.Fork{Room: from, Seq: int64(len(events))}
			events[i].Body = b
		case room.MessagePosted:
			b.Message.Run = as
			events[i].Body = b
		case room.TurnDrafted:
			b.Message.Run = as
			events[i].Body = b
		}
		s.Apply(events[i])
	}
	return s
}

// keep stores the new room. A fork of an imported room counts as imported too, because
// its log names commands that were written elsewhere.
func (s Source) keep(ctx context.Context, db Log, as string, events []room.Event) error {
	strange := s.Where != ""
	if !strange {
		var err error
		if strange, err = db.Imported(ctx, s.Room); err != nil {
			return err
		}
	}
	if strange {
		entries, err := Chain(events)
		if err != nil {
			return err
		}
		return db.Restore(ctx, as, entries)
	}
	_, dup, err := db.Append(ctx, as, log.Pos{}, time.Time{}, events...)
	if err == nil && dup {
		err = log.ErrConflict
	}
	return err
}

// Chain makes entries of a whole room that has no chain yet.
func Chain(events []room.Event) ([]log.Entry, error) {
	entries, err := log.Seal(0, events)
	var hash [32]byte
	for i := range entries {
		hash = log.Link(hash, entries[i].Seq, entries[i].Commit)
		entries[i].Hash = hash
	}
	return entries, err
}
