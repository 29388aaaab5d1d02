package coordinator

import (
	"cmp"
	"errors"
	"time"

	"github.com/folkmoot/moot/room"
)

// auditEvents writes audit entries about turns. An error ends the room, so that
// nothing happens without an entry.
func (r *Room) auditEvents(events []room.Event) error {
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
		if err := r.cfg.Audit(a); err != nil {
			return err
		}
	}
	return nil
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
