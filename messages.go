package moot

import (
	"context"
	"slices"

	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/delivery"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/plan"
)

// A Message is the envelope of a text in a room.
type Message = room.Message

// A Receipt says what has become of a message.
type Receipt = room.Receipt

// Post posts a message of a seat apart from its answers, and returns what has become of
// it once that is stored. The sender is the seat, which the caller has authenticated; via
// says how the message came. The same message_id again posts nothing and gets the receipt of
// the first; with another content it is refused with an error that wraps
// [room.ErrTaken]. A message that the room refuses is kept as a dead letter; its
// receipt comes with the error.
func (h *Host) Post(ctx context.Context, id, seat, via string, m Message) (Receipt, error) {
	if m.Kind == kinds.Ack {
		return h.Acknowledge(ctx, id, seat, via, m.Correlation)
	}
	r, err := h.roomOf(ctx, id, seat)
	if err != nil {
		return Receipt{}, err
	}
	act, err := postAct(r, seat, m)
	if err != nil {
		return Receipt{}, err
	}
	events, err := h.rooms.Do(ctx, id, Command{Actor: seat, Via: via, Do: act})
	if err != nil {
		return Receipt{}, err
	}
	if err := room.Refusal(events); err != nil {
		return Receipt{Message: m.ID, State: delivery.Refused, Reason: err.Error()}, err
	}
	for _, e := range events {
		b, ok := e.Body.(room.MessagePosted)
		if ok && b.Message.To == room.Broadcast && len(b.Message.Receivers) == 0 { // nobody in particular is given it
			return Receipt{Message: b.Message.ID, Seq: e.Seq, State: delivery.Posted}, nil
		}
		if ok {
			m.ID = b.Message.ID
		}
	}
	return h.receipt(ctx, id, m.ID)
}

// postAct returns the act by which a participant posts m. People post talk.
func postAct(r *Room, seat string, m Message) (Act, error) {
	person := slices.ContainsFunc(r.View().Seats, func(x room.SeatView) bool { return x.ID == seat && x.Kind == policy.Human })
	if !person {
		return room.Posted{Message: m}, nil
	}
	if len(m.Payload) > 0 || m.Summary != "" || m.Priority != "" || m.RequiresAck || m.Notify != "" {
		return nil, &problem.Error{
			Code: "ROOM-KIND", What: "a person posts a text, without a summary, payload, priority, acknowledgement or notice", Where: "seat " + seat,
			Fix: "leave them out",
		}
	}
	return room.Say{Text: m.Text, To: m.To, Kind: m.Kind, Visibility: m.Visibility, MessageID: m.ID}, nil
}

// Acknowledge records that a seat has taken note of a message that was addressed to it,
// and returns what has become of the message. A second time changes nothing.
func (h *Host) Acknowledge(ctx context.Context, id, seat, via, message string) (Receipt, error) {
	if _, err := h.roomOf(ctx, id, seat); err != nil {
		return Receipt{}, err
	}
	if _, err := h.rooms.Do(ctx, id, Command{Actor: seat, Via: via, Do: room.Ack{Message: message}}); err != nil {
		return Receipt{}, err
	}
	receipt, err := h.receipt(ctx, id, message)
	return receipt.For(seat), err
}

// ClaimTask gives a free task of the room's plan to a seat, which is a worker's or
// specialist's, and returns the task. Of several that claim one task only the first gets
// it; the others get an error with the code ROOM-CLAIMED. The caller has authenticated
// the seat; via says how the claim came.
func (h *Host) ClaimTask(ctx context.Context, id, seat, via, task string) (plan.Task, error) {
	r, err := h.roomOf(ctx, id, seat)
	if err != nil {
		return plan.Task{}, err
	}
	if _, err := h.rooms.Do(ctx, id, Command{Actor: seat, Via: via, Do: room.ClaimTask{Task: task}}); err != nil {
		return plan.Task{}, err
	}
	for _, t := range r.View().Tasks {
		if t.ID == task {
			return t, nil
		}
	}
	return plan.Task{ID: task, Owner: seat}, nil // the room removes no tasks
}

// roomOf returns the room of a seat of this device, which it loads if need be.
func (h *Host) roomOf(ctx context.Context, id, seat string) (*Room, error) {
	if err := h.checkHere(ctx, id, seat); err != nil {
		return nil, err
	}
	if err := h.checkLoadable(ctx, id); err != nil {
		return nil, err
	}
	return h.rooms.Get(ctx, id)
}

// checkHere refuses a seat of a room on another device, which takes answers only.
func (h *Host) checkHere(ctx context.Context, id, seat string) error {
	p, err := h.elsewhere(ctx, session.Seat{Room: id, Name: seat})
	if err == nil && p != nil {
		err = &problem.Error{
			Code: "SEAT-ELSEWHERE", What: "the room is on another device, where the seat answers turns only", Where: "seat " + seat,
			Fix: "answer its next turn",
		}
	}
	return err
}

// receipt returns what has become of a message in a room that runs.
func (h *Host) receipt(ctx context.Context, id, message string) (Receipt, error) {
	r, err := h.rooms.Get(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	return r.Receipt(ctx, message)
}

// A Mailed is a message to a participant, with what has become of it.
type Mailed struct {
	delivery.Delivery
	Envelope Message // as the participant reads it; empty if it was redacted, or is held
	Redacted bool
}

// Pull returns the messages to a seat that are not settled, in the order of the log, at
// most limit, and how many there are. It changes nothing. A message that is held has no
// text before it is released. The caller has authenticated the seat.
func (h *Host) Pull(ctx context.Context, id, seat string, limit int) ([]Mailed, int, error) {
	if err := h.checkHere(ctx, id, seat); err != nil {
		return nil, 0, err
	}
	mail, err := h.Mail(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	waiting := mail.Deliveries.Pending(seat)
	slices.SortFunc(waiting, func(a, b delivery.Delivery) int { return int(a.Seq - b.Seq) })
	items := make([]Mailed, 0, min(limit, len(waiting)))
	for _, d := range waiting[:min(limit, len(waiting))] {
		x := Mailed{Delivery: d}
		if d.State != delivery.Held {
			m, redacted, err := h.message(ctx, id, d.Seq)
			if err != nil {
				return nil, 0, err
			}
			x.Envelope, _ = m.VisibleTo(seat)
			x.Redacted = redacted
		}
		items = append(items, x)
	}
	return items, len(waiting), nil
}

// Mail returns what has become of the messages of a room to its participants, and its
// dead letters. It does not load the room.
func (h *Host) Mail(ctx context.Context, id string) (room.Mail, error) {
	if r, ok := h.rooms.Running(id); ok {
		return r.Mail(), nil
	}
	s, err := h.fold(ctx, id)
	if err != nil {
		return room.Mail{}, err
	}
	return s.Mail, nil
}

// message reads the message of the event with that number.
func (h *Host) message(ctx context.Context, id string, seq int64) (m Message, redacted bool, err error) {
	entries, err := h.log.Read(ctx, id, log.At(seq-1), 1)
	if err != nil || len(entries) == 0 {
		return m, false, err
	}
	b, _ := entries[0].Event.Body.(room.MessagePosted)
	return b.Message, entries[0].Redacted, nil
}
