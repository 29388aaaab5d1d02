package config

import (
	"errors"
	"strconv"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// DefaultProfile is the local agent on whose behalf a remote agent is asked, if
// the room names none.
const DefaultProfile = "default"

// resolveRemotes sets the devices of remote agents, and the local agents on
// whose behalf they are asked.
func (d *document) resolveRemotes(w wireRoom, r *Room, o Options) {
	k := 0
	for i, seat := range w.Participants {
		if seat == nil {
			continue
		}
		p := &r.Participants[k]
		k++
		if p.Endpoint == nil || p.Endpoint.Kind != KindRelay || d.isBroken(participantPath(i, "endpoint")...) {
			continue
		}
		if p.Seat.Profile == "" {
			p.Seat.Profile = callerProfile(r)
		}
		if o.Device == nil {
			continue
		}
		id, owner, err := o.Device(p.Endpoint.Peer)
		if err != nil {
			d.reportPeer(participantPath(i, "endpoint", "peer"), err)
			continue
		}
		p.Seat.Device = id
		if p.Seat.Owner == "" {
			p.Seat.Owner = owner
		}
	}
}

// resolveObservers sets the devices of the observers.
func (d *document) resolveObservers(w wireRoom, r *Room, o Options) {
	seen := map[string]bool{}
	for i, x := range w.Observers {
		path := []string{"observers", strconv.Itoa(i), "peer"}
		if x == nil || o.Observer == nil || d.isBroken(path...) {
			continue
		}
		id, name, err := o.Observer(x.Peer)
		switch {
		case err != nil:
			d.reportPeer(path, err)
			continue
		case seen[id]:
			d.reportUnlessBroken(path, "ROOM-PEER", strconv.Quote(x.Peer)+" is the same device as another observer", "list each device once")
			continue
		}
		seen[id] = true
		r.Observers = append(r.Observers, room.Observer{Device: id, Name: name, Level: room.Visibility(x.Level)})
	}
}

// reportPeer reports why a device cannot be used.
func (d *document) reportPeer(path []string, err error) {
	what, hint := err.Error(), ""
	var pe *problem.Error
	if errors.As(err, &pe) {
		what, hint = pe.What, pe.Fix
	}
	d.reportUnlessBroken(path, "ROOM-PEER", what, hint)
}

// callerProfile is the profile of the only local agent of the room, or else
// DefaultProfile.
func callerProfile(r *Room) string {
	found, agents := "", 0
	for _, p := range r.Participants {
		if p.Seat.Kind == policy.Local {
			agents++
			found = p.Seat.Profile
		}
	}
	if agents == 1 && found != "" {
		return found
	}
	return DefaultProfile
}

// Remote reports whether a participant is on another device.
func Remote(p room.Participant) bool { return p.Device != "" }
