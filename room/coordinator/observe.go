package coordinator

import (
	"cmp"
	"errors"
	"time"

	"github.com/folkmoot/moot/room"
)

// An Observer is told what rooms do, for metrics and traces. Its methods are called by
// the loops of many rooms at once. They must return at once and must not fail.
type Observer interface {
	// Committed is told of events that are stored and applied, in the order of the room.
	Committed(Commit)
	// Unloaded is told that the room does not run here any more.
	Unloaded(room string)
}

// A Commit is one append to the log of a room. It has the texts of messages, which an
// observer keeps to itself.
type Commit struct {
	Room, Name string
	Policy     string // the name of the policy in force
	Phase      room.Phase
	Events     []room.Event
	Turn       room.Turn     // that was open before the events; the zero Turn is none
	Took       time.Duration // of the append, until the events were durable
}

// observe tells the observers of events that are stored and applied. before is the
// turn that was open until then, or nil.
func (r *Room) observe(events []room.Event, before *room.Turn, took time.Duration) {
	if len(r.cfg.Observers) == 0 {
		return
	}
	c := Commit{Room: r.id, Name: r.state.Spec.Name, Policy: r.state.Policy.Ref.Name, Phase: r.state.Phase, Events: events, Took: took}
	if before != nil {
		c.Turn = *before
	}
	for _, o := range r.cfg.Observers {
		o.Committed(c)
	}
}

// appendAudit appends the audit entries about events that are not applied yet.
func (r *Room) appendAudit(all []AuditEntry, events []room.Event) []AuditEntry {
	if r.cfg.Audit == nil {
		return nil
	}
	for _, e := range events {
		a, seat := auditEntry(e)
		if a.Status == "" {
			continue
		}
		if seat == "" && r.state.Turn != nil {
			seat = r.state.Turn.Participant
		}
		a.Time, a.Requester, a.Room = e.At, e.Actor, r.id
		if x, ok := r.state.Seat(seat); ok {
			a.Device = x.Device
			a.Profile, a.Mode = cmp.Or(x.Profile, x.ID), string(x.ModeNow())
		}
		all = append(all, a)
	}
	return all
}

// auditEntry returns the entry about an event, with the zero Status for none,
// and the seat that it is about, "" for the seat of the open turn.
func auditEntry(e room.Event) (a AuditEntry, seat string) {
	switch b := e.Body.(type) {
	case room.TurnGranted:
		return AuditEntry{Turn: b.Turn, Status: "granted", Reason: b.Reason}, b.Participant
	case room.TurnDrafted:
		return AuditEntry{Turn: b.Turn, Status: "drafted", Reason: b.Why}, b.Message.From
	case room.MessagePosted:
		if b.Turn != 0 {
			return AuditEntry{Turn: b.Turn, Status: "posted", Took: b.Latency}, b.Message.From
		}
	case room.TurnPassed:
		return AuditEntry{Turn: b.Turn, Status: "passed", Took: b.Latency}, ""
	case room.TurnRejected:
		return AuditEntry{Turn: b.Turn, Status: "rejected"}, ""
	case room.TurnFailed:
		return AuditEntry{Turn: b.Turn, Status: "failed", Reason: b.Code, Took: b.Latency}, ""
	case room.TurnInterrupted:
		return AuditEntry{Turn: b.Turn, Status: "interrupted", Reason: b.Reason}, ""
	case room.ReplyLate:
		return AuditEntry{Turn: b.Turn, Status: "late"}, b.Participant
	case room.SeatFailed:
		return AuditEntry{Status: "failed", Reason: b.Code, Took: b.Latency}, b.Participant
	case room.Violation:
		return AuditEntry{Status: "violation", Reason: b.Code}, b.Participant
	}
	return AuditEntry{}, ""
}

// auditRefusal writes an audit entry about a command that was denied.
func (r *Room) auditRefusal(c room.Command, err error) error {
	if r.cfg.Audit == nil || !errors.Is(err, room.ErrDenied) {
		return nil
	}
	return r.cfg.Audit(AuditEntry{Time: time.Now(), Requester: c.Actor, Room: r.id, Status: "refused", Reason: err.Error()})
}
