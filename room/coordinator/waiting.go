package coordinator

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/log"
)

// tellWaiting tells what waits for a person, if it has changed.
func (r *Room) tellWaiting() {
	if r.cfg.Waiting == nil {
		return
	}
	var ids []string
	if t := r.state.Turn; t != nil {
		if t.Draft != nil {
			ids = append(ids, string(r.state.Phase), t.Draft.Hash)
		}
		for _, q := range t.Requests {
			ids = append(ids, q.ID)
		}
	}
	if now := strings.Join(ids, " "); now != r.waiting {
		r.waiting = now
		r.cfg.Waiting(r.state.Waiting())
	}
}

// endWaiting tells that the room runs no more. No agent waits for an answer then; a
// draft does.
func (r *Room) endWaiting() {
	if r.cfg.Waiting == nil || r.waiting == "" {
		return
	}
	w := r.state.Waiting()
	w.Requests = nil
	r.cfg.Waiting(w)
}

// Mail returns what has become of the messages of the room. It shares nothing that
// changes with the room.
func (r *Room) Mail() (m room.Mail) {
	r.read(func(s *room.State) {
		m = s.Mail
		m.Deliveries.All = slices.Clone(m.Deliveries.All)
		m.Deliveries.Cursors = maps.Clone(m.Deliveries.Cursors)
	})
	return m
}

// Receipt returns what has become of the message with that id, and the error with
// which the room has refused it. It reads the log for a message that the state does
// not list any more. An unknown message is the error of [log.ErrNotFound].
func (r *Room) Receipt(ctx context.Context, id string) (receipt room.Receipt, err error) {
	var ok bool
	var seq int64
	var dead []room.DeadLetter
	r.read(func(s *room.State) {
		receipt, ok = s.Receipt(id)
		seq, dead = s.Commands.At[id], s.Mail.Dead
	})
	switch {
	case !ok:
		return room.Receipt{}, &problem.Error{Code: "ROOM-ACK", What: "the room knows no message " + id, Fix: "name a message by its message_id", Kind: log.ErrNotFound}
	case receipt.State == delivery.Refused:
		return receipt, refusal(dead, id)
	case len(receipt.Deliveries) > 0:
		return receipt, nil
	}
	entries, err := r.cfg.Log.Read(ctx, r.id, log.At(seq-1), 1)
	if err != nil || len(entries) == 0 {
		return receipt, err
	}
	receipt.Seq = seq
	b, refused := entries[0].Event.Body.(room.MessageDead)
	if !refused {
		return receipt, nil
	}
	receipt.State, receipt.Reason = delivery.Refused, b.Reason
	return receipt, room.Refusal([]room.Event{entries[0].Event})
}

// refusal returns why the room has refused the message with that id.
func refusal(dead []room.DeadLetter, id string) error {
	for _, d := range slices.Backward(dead) {
		if d.Refuses(id) {
			return room.Refusal([]room.Event{{Body: d.MessageDead}})
		}
	}
	return nil
}
