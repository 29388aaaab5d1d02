package server

import (
	"context"
	"iter"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// page is how many events are read at a time.
const page = 500

// entries yields the entries of a room after one, up to the one with the number tail.
func (s *Server) entries(ctx context.Context, id string, after, tail int64) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for at := log.At(after); int64(at.Seq) < tail; {
			entries, err := s.cfg.Host.Log().Read(ctx, id, at, int(min(page, tail-int64(at.Seq))))
			if err == nil && len(entries) == 0 {
				err = log.Corrupt(id, at.Seq+1, "events are missing")
			}
			for _, e := range entries {
				at = e.Pos
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(log.Entry{}, err)
				return
			}
		}
	}
}

// stored yields the events that q asks for of those that were stored when the stream
// began.
func (s *Server) stored(ctx context.Context, q subscription) iter.Seq2[moot.Update, error] {
	return func(yield func(moot.Update, error) bool) {
		for e, err := range s.entries(ctx, q.room, q.after, q.tail) {
			if err != nil {
				yield(moot.Update{}, err)
				return
			}
			if seen, ok := moot.Visible(e.Event, q.level); ok && !yield(moot.Update{Event: &seen}, nil) {
				return
			}
		}
	}
}

// visibleEntries returns the entries that a reader of visible messages gets, without
// the chain, to which others belong too.
func visibleEntries(entries iter.Seq2[log.Entry, error], level room.Visibility) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for e, err := range entries {
			if err != nil {
				yield(e, err)
				return
			}
			if seen, ok := moot.Visible(e.Event, level); ok && !yield(log.Entry{Pos: e.Pos, Event: seen, Redacted: e.Redacted}, nil) {
				return
			}
		}
	}
}
