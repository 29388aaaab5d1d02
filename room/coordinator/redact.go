package coordinator

import (
	"context"
	"slices"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// finishRedactions carries out redactions that a crash has interrupted. The
// event is stored before the text is removed, and each redaction deletes the
// snapshot, so the event is among those that recover has just folded.
func (r *Room) finishRedactions(ctx context.Context) error {
	for _, seq := range slices.Clone(r.redactions) {
		entries, err := r.cfg.Log.Read(ctx, r.id, log.At(seq-1), 1)
		if err != nil {
			return err
		}
		if len(entries) == 1 && !entries[0].Redacted {
			if err := r.redact(ctx, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// redact removes the texts of events from the log and folds the log again,
// because the state may hold those texts anywhere.
func (r *Room) redact(ctx context.Context, seqs ...int64) error {
	var stubs []room.Event
	for _, seq := range seqs {
		entries, err := r.cfg.Log.Read(ctx, r.id, log.At(seq-1), 1)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			stubs = append(stubs, entries[0].Event.Redacted())
		}
	}
	if len(stubs) == 0 {
		return nil
	}
	if err := r.cfg.Log.Redact(ctx, r.id, stubs...); err != nil {
		return err
	}
	r.hub.forget()
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.clock
	r.state, r.texts, r.redactions = room.State{}, messageCache{log: r.cfg.Log, room: r.id}, nil
	if err := r.recover(ctx); err != nil {
		return err
	}
	r.clock = held
	return nil
}

// eventsWith returns the other events that hold the text of the message at seq: its
// drafts, and the change of the plan that its payload made.
func (r *Room) eventsWith(ctx context.Context, seq int64) ([]int64, error) {
	found, err := r.draftEvents(ctx, seq)
	if err != nil {
		return nil, err
	}
	entries, err := r.cfg.Log.Read(ctx, r.id, log.At(seq-1), 2)
	if err != nil || len(entries) < 2 {
		return found, err
	}
	m, posted := entries[0].Event.Body.(room.MessagePosted)
	if b, ok := entries[1].Event.Body.(room.PlanChanged); ok && posted && b.Message == m.Message.ID {
		found = append(found, entries[1].Event.Seq)
	}
	return found, nil
}

// draftEvents returns the events that hold drafts of the message at seq: the
// draft itself and its edits. The event that holds its payload is one of them.
func (r *Room) draftEvents(ctx context.Context, seq int64) ([]int64, error) {
	var found []int64
	turn := 0
	for to := seq; to > 0; to -= page {
		entries, err := r.cfg.Log.Read(ctx, r.id, log.At(max(0, to-page)), int(min(to, page)))
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(entries) {
			switch b := e.Event.Body.(type) {
			case room.MessagePosted:
				if ref, ok := b.Message.PayloadRef(); ok && e.Event.Seq == seq {
					if at, ok := r.state.StoredPayload(ref.Digest); ok {
						found = append(found, at)
					}
				}
				if e.Event.Seq == seq && !b.Auto {
					turn = b.Turn
				}
			case room.TurnDrafted:
				if b.Turn == turn {
					found = append(found, e.Event.Seq)
				}
			case room.TurnEdited:
				if b.Turn == turn {
					found = append(found, e.Event.Seq)
				}
			case room.TurnGranted:
				if b.Turn == turn {
					return found, nil
				}
			}
			if turn == 0 {
				return found, nil
			}
		}
	}
	return found, nil
}
