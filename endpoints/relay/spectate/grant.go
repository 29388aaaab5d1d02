package spectate

import (
	"slices"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/wire"
	"github.com/folkmoot/moot/room"
)

// A grant is the room that a device may watch, and the level of visibility.
type grant struct {
	room      Room
	spectator Spectator
	level     room.Visibility
}

// admit returns the grant of a device for a room; id is "" for the only one. An
// unknown room and a forbidden one get the same code.
func (s *Server) admit(from identity.DeviceID, id string) (g grant, code string) {
	peer, err := s.cfg.Peer(from)
	if err != nil || peer.Suspended() || peer.Grant != identity.GrantObserver {
		return g, wire.ReplyDenied
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []grant
	for name, r := range s.rooms {
		if level, ok := levelOf(peer, r); ok && (id == "" || name == id) {
			all = append(all, grant{room: r, spectator: Spectator{Device: from, Name: peer.Name}, level: level})
		}
	}
	if len(all) > 1 { // the only one that is not over is meant
		all = slices.DeleteFunc(all, func(g grant) bool { _, _, over := g.room.Ending(); return over })
		if len(all) != 1 {
			return g, wire.ReplyWhich
		}
	}
	if len(all) == 0 {
		return g, wire.ReplyDenied
	}
	return all[0], ""
}

// levelOf returns the level at which a peer may watch a room. An invite for one
// room allows no other room, even if the other lists the peer.
func levelOf(peer identity.Peer, r Room) (room.Visibility, bool) {
	if peer.Room != "" && peer.Room != r.ID() {
		return "", false
	}
	for _, o := range r.Observers() {
		if o.Device != peer.ID.String() {
			continue
		}
		switch o.Level {
		case "", room.UserVisible:
			return room.UserVisible, true
		case room.UserRedacted:
			return room.UserRedacted, true
		}
		return "", false // the level internal never leaves the host
	}
	return room.UserVisible, peer.Room != ""
}

// refused records that a device was denied access.
func (s *Server) refused(from identity.DeviceID, id, code string) {
	s.mu.Lock()
	s.counts.Refused++
	n := s.counts.Refused
	s.mu.Unlock()
	s.cfg.Log.Warn("a device may not watch", "device", from.Short(), "room", endpoint.CleanLine(id, maxLoggedID), "reason", code, "refused", n)
	if err := s.audit(from, id, "refused", code); err != nil {
		s.cfg.Log.Error("the audit cannot be written", "error", err)
	}
}

// maxLoggedID bounds the room id of a stranger in the log, in runes.
const maxLoggedID = 300

func (s *Server) audit(d identity.DeviceID, id, status, reason string) error {
	return s.cfg.Audit(AuditEntry{Time: time.Now(), Device: d, Room: id, Status: status, Reason: reason})
}
