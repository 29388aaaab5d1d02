package relay

import (
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/room"
)

// A pass is what a device may see.
type pass struct {
	stage Stage
	guest Guest
	level room.Visibility
}

// admit finds the room that a device asks for, if it may watch it. That there
// is none and that it may not look the same.
func (g *Gallery) admit(from identity.DeviceID, id string) (p pass, code string) {
	peer, err := g.cfg.Peer(from)
	if err != nil || peer.Suspended() || peer.Grant != identity.GrantObserver {
		return p, verdictDenied
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, s := range g.stages {
		level, ok := levelOf(peer, s)
		if id != "" && name != id || !ok {
			continue
		}
		if p.stage != nil {
			return pass{}, verdictWhich
		}
		p = pass{stage: s, guest: Guest{Device: from, Name: peer.Name}, level: level}
	}
	if p.stage == nil {
		return p, verdictDenied
	}
	return p, ""
}

// levelOf is what a peer with the grant may see of a room, if anything. A
// grant for one room is for no other, whatever lists it.
func levelOf(peer identity.Peer, s Stage) (room.Visibility, bool) {
	if peer.Room != "" && peer.Room != s.ID() {
		return "", false
	}
	for _, o := range s.Observers() {
		if o.Device != peer.ID.String() {
			continue
		}
		switch o.Level {
		case "", room.UserVisible:
			return room.UserVisible, true
		case room.UserRedacted:
			return room.UserRedacted, true
		}
		return "", false // internal is for who holds the room
	}
	return room.UserVisible, peer.Room != ""
}

// refused notes that a device was not let in.
func (g *Gallery) refused(from identity.DeviceID, id, code string) {
	g.mu.Lock()
	g.counts.Refused++
	n := g.counts.Refused
	g.mu.Unlock()
	g.cfg.Log.Warn("a device may not watch", "device", from.Short(), "room", endpoint.CleanLine(id, maxDetail), "reason", code, "refused", n)
	if err := g.audit(from, id, "refused", code); err != nil {
		g.cfg.Log.Error("the audit cannot be written", "error", err)
	}
}

func (g *Gallery) audit(d identity.DeviceID, id, status, reason string) error {
	if g.cfg.Audit == nil {
		return nil
	}
	return g.cfg.Audit(Observed{Time: time.Now(), Device: d, Room: id, Status: status, Reason: reason})
}
