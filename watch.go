package moot

import (
	"context"
	"fmt"
	"iter"

	"github.com/folkmoot/moot/endpoints/relay/spectate"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
)

// Watch yields what happens in a room after the event with the number after, as a
// reader with that level sees it: first what is stored, then what comes, without gap
// or duplicate. Only readers of internal messages get live text. It does not load
// the room. It ends when everything of a room that is completed, stopped or in error
// has been yielded, when ctx ends, when the Host has stopped and all has been
// yielded, and when another node goes on with the room.
func (h *Host) Watch(ctx context.Context, id string, after int64, level room.Visibility) iter.Seq2[Update, error] {
	return h.watch(ctx, id, after, level, func(room.Phase, string) bool { return true })
}

// Follow is Watch that goes on while a person can still continue a room that runs,
// such as one that has settled or that a limit has stopped.
func (h *Host) Follow(ctx context.Context, id string, after int64, level room.Visibility) iter.Seq2[Update, error] {
	return h.watch(ctx, id, after, level, func(p room.Phase, cause string) bool {
		return p == room.PhaseCompleted && cause != room.CauseSettled || p == room.PhaseStopped && cause == room.CausePerson
	})
}

func (h *Host) watch(ctx context.Context, id string, after int64, level room.Visibility, last func(room.Phase, string) bool) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.running, cancel)()
		w := &watch{host: h, id: id, at: log.At(after), level: level, last: last, yield: yield}
		err := w.run(running)
		if running.Err() != nil && !w.gone {
			err = w.rest(ctx)
		}
		if err != nil && ctx.Err() == nil {
			yield(Update{}, err)
		}
	}
}

// Visible returns what a reader with that level gets of an event: with the level
// internal all of it, otherwise only what an owner of another device may get too. It
// reports false when that is nothing.
func Visible(e Event, level room.Visibility) (Event, bool) {
	if level == room.Internal {
		return e, true
	}
	return spectate.PublicEvent(e, level)
}

// View returns a room as a reader with that level sees it. It does not load the
// room.
func (h *Host) View(ctx context.Context, id string, level room.Visibility) (room.View, error) {
	if r, ok := h.rooms.Running(id); ok {
		return r.ViewAt(level), nil
	}
	s, err := h.fold(ctx, id)
	if err != nil {
		return room.View{}, err
	}
	return s.View(level), nil
}

// Loaded reports whether a room runs in this process.
func (h *Host) Loaded(id string) bool {
	_, ok := h.rooms.Running(id)
	return ok
}

// A watch is one call of Watch or Follow.
type watch struct {
	host  *Host
	id    string
	at    log.Pos // of the last event read
	level room.Visibility
	last  func(p room.Phase, cause string) bool // whether the watch ends with a room that is over like this
	over  bool                                  // the room is completed, stopped or in error at the last event read
	ended bool                                  // it is over in such a way that the watch ends
	gone  bool                                  // nothing is yielded any more
	yield func(Update, error) bool
}

// run alternates between the room, while it is loaded, and its log.
func (w *watch) run(ctx context.Context) error {
	v, err := w.host.View(ctx, w.id, room.Internal)
	if err != nil {
		return err
	}
	if w.at.Seq > uint64(v.Seq) { // a room that runs stores events before its view has them
		s, err := w.host.fold(ctx, w.id)
		if err != nil {
			return err
		}
		v = s.View(room.Internal)
	}
	if w.at.Seq > uint64(v.Seq) {
		return &problem.Error{
			Code: "ROOM-SEQ", What: fmt.Sprintf("the room has %d events, and no event %d", v.Seq, w.at.Seq), Where: "room " + w.id,
			Fix: "watch it from 0, or from an event that it has",
		}
	}
	w.note(v.Phase, v.Ending.Cause)
	for {
		if r, ok := w.host.rooms.Running(w.id); ok {
			if err := w.room(ctx, r); err != nil || w.gone {
				return err
			}
		}
		if err := w.log(ctx); err != nil || w.gone || ctx.Err() != nil {
			return err
		}
	}
}

// rest yields what the room has stored at last, when the Host has stopped.
func (w *watch) rest(ctx context.Context) error {
	for e, err := range log.Scan(ctx, w.host.log, w.id, w.at) {
		if err == nil {
			err = w.event(ctx, e.Event)
		}
		if err != nil || w.gone {
			return err
		}
	}
	return nil
}

// room yields what happens in a loaded room until it is unloaded.
func (w *watch) room(ctx context.Context, r *coordinator.Room) error {
	if err := w.endIf(ctx, w.ended); err != nil || w.gone {
		return err
	}
	for u, err := range r.Watch(ctx, int64(w.at.Seq), room.Internal) { // w.level is applied below: the end of the room may be invisible
		switch {
		case err != nil:
			return err
		case u.Event != nil:
			err = w.event(ctx, *u.Event)
		case u.VisibleAt(w.level):
			w.gone = !w.yield(u, nil)
		}
		if err != nil || w.gone {
			return err
		}
	}
	w.gone = r.Leaving() // the reader gets the rest, and live text, where the room runs now
	return nil
}

// log yields what the log of a room stores, until the room is loaded. A room that is
// over and does not run is at its end.
func (w *watch) log(ctx context.Context) error {
	if err := w.endIf(ctx, w.over); err != nil || w.gone {
		return err
	}
	for e, err := range w.host.log.Follow(ctx, w.id, w.at) {
		if err == nil {
			err = w.event(ctx, e.Event)
		}
		if err != nil || w.gone {
			return err
		}
		if _, loaded := w.host.rooms.Running(w.id); loaded {
			return nil
		}
	}
	return nil
}

// event yields e, if w.level shows it.
func (w *watch) event(ctx context.Context, e Event) error {
	w.at = log.At(e.Seq)
	switch b := e.Body.(type) {
	case room.Completed:
		w.note(room.PhaseCompleted, b.Cause)
	case room.Stopped:
		w.note(room.PhaseStopped, b.Cause)
	case room.Errored:
		w.note(room.PhaseError, "")
	case room.Resumed, room.TurnGranted, room.RoundDeclined, room.MessagePosted:
		w.note(room.PhaseLive, "")
	}
	if e, ok := Visible(e, w.level); ok && !w.yield(Update{Event: &e}, nil) {
		w.gone = true
		return nil
	}
	return w.endIf(ctx, w.ended)
}

// note keeps whether the room is over.
func (w *watch) note(p room.Phase, cause string) {
	w.over = isOver(p)
	w.ended = w.over && w.last(p, cause)
}

// endIf ends the watch if the room has ended and all of it is read.
func (w *watch) endIf(ctx context.Context, ended bool) error {
	if !ended {
		return nil
	}
	tail, err := w.host.log.Tail(ctx, w.id)
	w.gone = w.gone || err == nil && w.at.Seq >= tail.Seq
	return err
}
