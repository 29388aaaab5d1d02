package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// A watcher ends a session, and tells its creator of errors.
type watcher struct {
	record
	stop context.CancelFunc
}

// watch begins to watch a session. The caller holds s.mu, or no other caller has s.
func (s *Sessions) watch(x record) {
	ctx, stop := context.WithCancel(s.ctx)
	w := &watcher{record: x, stop: stop}
	s.live[x.ID] = w
	s.done.Go(func() { s.own(ctx, w) })
	s.done.Go(func() { s.expiry(ctx, w) })
	if x.By != "" {
		s.done.Go(func() { s.creator(ctx, w) })
	}
}

// own follows the session's room: it reports failures to the creator, and the end of
// the room ends the session.
func (s *Sessions) own(ctx context.Context, w *watcher) {
	for u, err := range s.cfg.Host.Follow(ctx, w.ID, 0, room.Internal) {
		if err != nil {
			s.cfg.Log.Warn("a session cannot be watched", "session", w.ID, "error", err)
			return
		}
		if u.Event == nil {
			continue
		}
		if what := failure(u.Event.Body); what != "" {
			s.tell(ctx, w, u.Event.Seq, what)
		}
	}
	if s.over(ctx, w.ID) {
		s.end(w, "its room has ended")
	}
}

// over reports whether a room has ended for good, or has been removed. The end of a
// watch alone does not say so: the Host may have stopped.
func (s *Sessions) over(ctx context.Context, id string) bool {
	v, err := s.cfg.Host.View(ctx, id, room.Internal)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		return isUnknown(err)
	}
	return v.Phase == room.PhaseError || v.Phase == room.PhaseStopped || v.Phase == room.PhaseCompleted && v.Ending.Cause != room.CauseSettled
}

// failure says what has failed with an event of a session, "" if nothing has.
func failure(b room.Body) string {
	switch b := b.(type) {
	case room.TurnFailed:
		return fmt.Sprintf("its turn %d failed: %s: %s", b.Turn, b.Code, b.Error)
	case room.SeatFailed:
		return fmt.Sprintf("its agent failed: %s: %s", b.Code, b.Error)
	case room.Errored:
		return fmt.Sprintf("its room failed: %s: %s", b.Code, b.Reason)
	case room.Stopped:
		if b.Cause != room.CausePerson {
			return "it was stopped: " + b.Reason
		}
	}
	return ""
}

// tell posts a failure to the creator. The command's id makes it known once, also
// after a restart.
func (s *Sessions) tell(ctx context.Context, w *watcher, seq int64, what string) {
	id, seat, _ := strings.Cut(w.By, ".")
	if id == "" {
		return
	}
	if seat == "" {
		seat = seatID
	}
	say := room.Say{
		Text: fmt.Sprintf("Session %s: %s", w.ID, what), To: seat, Kind: room.KindRequest, Source: room.SourceAgent, FromSession: w.ID,
		MessageID: fmt.Sprintf("note_%s_%d", w.ID, seq),
	}
	_, err := s.cfg.Host.Do(ctx, id, moot.Command{ID: "c_" + say.MessageID, Actor: room.ActorHost, Do: say, Via: "note"})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("the creator of a session was not told of a failure", "session", w.ID, "creator", w.By, "error", err)
	}
}

// creator ends the session when the room of its creator has ended.
func (s *Sessions) creator(ctx context.Context, w *watcher) {
	id, _, _ := strings.Cut(w.By, ".")
	v, err := s.cfg.Host.View(ctx, id, room.Internal)
	if err == nil {
		for range s.cfg.Host.Follow(ctx, id, v.Seq, room.Internal) { // it ends with the room
		}
	}
	if s.over(ctx, id) {
		s.end(w, "its creator "+w.By+" has ended")
	}
}

// expiry ends the session when it has had no message for the TTL.
func (s *Sessions) expiry(ctx context.Context, w *watcher) {
	for {
		x, ok := s.find(w.ID)
		rest := time.Until(x.Until)
		if !ok || rest <= 0 {
			s.end(w, "it had no message for "+s.cfg.TTL.String())
			return
		}
		t := time.NewTimer(rest)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// End ends a session for its creator, or for a person with control.
func (s *Sessions) End(ctx context.Context, from Sender, id string) error {
	t, err := s.target(ctx, from, id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	w := s.live[t.room]
	s.mu.Unlock()
	if w == nil || !from.rules() && (from.Seat == "" || s.IDOf(from) != w.By) {
		return unknown(id)
	}
	s.end(w, "ended by "+from.Name)
	return nil
}

// end stops the room of a session, once.
func (s *Sessions) end(w *watcher, why string) {
	s.mu.Lock()
	if s.live[w.ID] != w {
		s.mu.Unlock()
		return
	}
	delete(s.live, w.ID)
	err := s.list.change(s.cfg.Path, func(l *list) {
		l.set(w.ID, func(x *record) { x.Ended, x.Until = why, now().Add(keepEnded) })
	})
	s.mu.Unlock()
	w.stop()
	if err == nil {
		err = s.stopRoom(w.ID, why)
	}
	if err != nil {
		s.cfg.Log.Warn("a session did not end cleanly", "session", w.ID, "error", err)
	}
}

// stopRoom stops a session's room unless it has ended.
func (s *Sessions) stopRoom(id, why string) error {
	v, err := s.cfg.Host.View(s.ctx, id, room.Internal)
	if err != nil || v.Phase == room.PhaseStopped || v.Phase == room.PhaseError {
		return err
	}
	_, err = s.cfg.Host.Do(s.ctx, id, moot.Command{ID: "c_end_" + id, Actor: room.ActorHost, Do: room.Stop{Reason: "the session has ended: " + why}, Via: "note"})
	return err
}
