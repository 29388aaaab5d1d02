package api

import (
	"encoding/json"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
)

// A Device is this device toward other owners.
type Device struct {
	Device string  `json:"device" doc:"Its id, which other owners allow"`
	Spoken string  `json:"spoken" doc:"The id with check characters, for people"`
	Online bool    `json:"online" doc:"A relay has let the device in"`
	Relays []Relay `json:"relays" doc:"The relays that it connects to"`
}

// A Relay is the connection to one relay.
type Relay struct {
	URL       string `json:"url"`
	Connected bool   `json:"connected"`
	Error     string `json:"error,omitempty" doc:"Why it is not connected"`
}

// A Peer is a device that this one is paired with, without secrets.
type Peer struct {
	Name     string    `json:"name"`
	Device   string    `json:"device"`
	Spoken   string    `json:"spoken"`
	Grant    string    `json:"grant" doc:"What the device may be here: agent, observer, seat or none"`
	Room     string    `json:"room,omitempty" doc:"The only room that the grant is for"`
	Seats    []SeatRef `json:"seats,omitempty" doc:"Of rooms here, which sessions there may hold"`
	Holds    []SeatRef `json:"holds,omitempty" doc:"Of rooms there, which sessions here may hold"`
	Relay    string    `json:"relay,omitempty" doc:"Where the devices meet"`
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Verified time.Time `json:"verified,omitzero" doc:"When the owners compared the digits"`
	Changed  time.Time `json:"changed,omitzero" doc:"Other keys than before: nothing is sent until they are accepted"`
	Digits   string    `json:"digits,omitempty"`
}

// A SeatRef names a seat of a room.
type SeatRef struct {
	Room string `json:"room"`
	Seat string `json:"seat"`
}

// Peers are the devices that this one is paired with.
type Peers struct {
	Peers []Peer `json:"peers"`
}

// PeerOf describes a peer.
func PeerOf(p identity.Peer) Peer {
	return Peer{
		Name: p.Name, Device: p.ID.String(), Spoken: p.ID.Display(), Grant: p.Grant.String(), Room: p.Room, Relay: p.Relay, Created: p.Created,
		Seats: seatsOf(p.Seats), Holds: seatsOf(p.Holds), LastSeen: p.LastSeen, Verified: p.Verified, Changed: p.Changed, Digits: p.Digits,
	}
}

func seatsOf(all []identity.SeatRef) (out []SeatRef) {
	for _, s := range all {
		out = append(out, SeatRef(s))
	}
	return out
}

// A ShareRequest says what to share with other owners.
type ShareRequest struct {
	Profiles []string `json:"profiles,omitempty" maxItems:"100" doc:"Names of profiles of the settings file; none: all with an endpoint"`
	Relay    string   `json:"relay,omitempty" maxLength:"200" doc:"URL of a relay to connect to as well"`
	Name     string   `json:"name,omitempty" maxLength:"64" doc:"What this device calls itself to others"`
}

// A Share is what is shared with other owners.
type Share struct {
	ID       string   `json:"id"`
	Device   string   `json:"device"`
	Spoken   string   `json:"spoken" doc:"The id of the device with check characters, for people"`
	Relays   []string `json:"relays"`
	Profiles []string `json:"profiles"`
	Unused   []string `json:"unused,omitempty" doc:"Profiles that no device may call"`
}

// A ShareUpdate is one line of the answer to a share that is held: the share, and
// then perhaps why it has ended.
type ShareUpdate struct {
	Share   *Share   `json:"share,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// Shares are the shares that have not ended.
type Shares struct {
	Shares []Share `json:"shares"`
}

// An InviteRequest says for whom an invite is.
type InviteRequest struct {
	Relay   string `json:"relay,omitempty" maxLength:"200" doc:"URL of the relay where the devices meet"`
	Name    string `json:"name,omitempty" maxLength:"64" doc:"What this device calls itself to the other"`
	Grant   string `json:"grant,omitempty" enum:"agent,observer" doc:"What the other device may be; agent by default"`
	Room    string `json:"room,omitempty" maxLength:"64" doc:"The only room that the grant is for"`
	Seat    string `json:"seat,omitempty" maxLength:"64" doc:"The seat of the room that a session on the other device may hold; the grant is then seat"`
	Auto    bool   `json:"auto,omitempty" doc:"Accept the device that uses the invite, without a question"`
	Expires string `json:"expires,omitempty" maxLength:"20" doc:"How long the invite can be used: 15m by default, 24h at most"`
}

// A JoinRequest is an invite of another device to use.
type JoinRequest struct {
	Invite string `json:"invite" maxLength:"1000" doc:"The text that the other owner has sent"`
	Name   string `json:"name,omitempty" maxLength:"64" doc:"What this device calls itself to the other"`
	Yes    bool   `json:"yes,omitempty" doc:"Agree without a question about the digits"`
}

// A Pairing is how far an invite, or the use of one, is.
type Pairing struct {
	ID       string           `json:"id"`
	Version  int              `json:"version" doc:"Grows with each change"`
	Phase    string           `json:"phase" enum:"waiting,asked,agreed,paired,refused,expired,failed" doc:"asked: a person has to answer the question; agreed: the other owner has to"`
	Invite   string           `json:"invite,omitempty" doc:"The secret text for the other owner"`
	Expires  time.Time        `json:"expires" doc:"Until when the invite can be used"`
	Question *PairingQuestion `json:"question,omitempty"`
	Offline  bool             `json:"offline,omitempty" doc:"A relay says that the device that made the invite is not connected"`
	Notes    []string         `json:"notes,omitempty" doc:"Attempts that paired no device"`
	Peer     *Peer            `json:"peer,omitempty" doc:"The device, once it is paired"`
	Problem  *Problem         `json:"problem,omitempty" doc:"Why no device was paired"`
}

// Over reports whether nothing more happens.
func (p Pairing) Over() bool { return device.Phase(p.Phase).Over() }

// Pairings are invites of this device, or uses of invites of others.
type Pairings struct {
	Pairings []Pairing `json:"pairings"`
}

// A PairingQuestion is whether to pair with a device.
type PairingQuestion struct {
	Name   string `json:"name" doc:"What the device calls itself"`
	Device string `json:"device"`
	Spoken string `json:"spoken"`
	Grant  string `json:"grant,omitempty" doc:"What the device may be here"`
	Digits string `json:"digits" doc:"Equal on both devices unless an attacker sits between"`
}

// A PairingAnswer is the answer of this device's owner.
type PairingAnswer struct {
	Digits string `json:"digits" maxLength:"64" doc:"Those of the question that is answered"`
	Accept bool   `json:"accept"`
}

// PairingOf describes a pairing.
func PairingOf(id string, p *device.Pairing, s device.PairingState) Pairing {
	out := Pairing{ID: id, Version: s.Version, Phase: string(s.Phase), Expires: p.Invite.Expires, Offline: s.Offline, Notes: s.Notes}
	if !p.Joining {
		out.Invite = p.Invite.String()
	}
	if q := s.Question; q != nil {
		out.Question = &PairingQuestion{Name: q.Name, Device: q.Device.String(), Spoken: q.Device.Display(), Digits: q.Digits}
		if !p.Joining {
			out.Question.Grant = q.Grant.String()
		}
	}
	if s.Phase == device.PairingPaired {
		peer := PeerOf(s.Peer)
		out.Peer = &peer
	}
	if s.Err != nil {
		out.Problem = ProblemOf(0, s.Err)
	}
	return out
}

// A PeerUpdate is one line of a stream that shows a room of another owner's
// device. It has one of the fields, or Phase and Reason with State.
type PeerUpdate struct {
	Watch   string          `json:"watch,omitempty" doc:"The first line: the id of this watch, to speak in the room"`
	Room    string          `json:"room,omitempty" doc:"The second line: the room that is watched"`
	Event   json.RawMessage `json:"event,omitempty" doc:"An event, as moot schema event describes it"`
	State   string          `json:"state,omitempty" enum:"away,over" doc:"over: the room has ended; away: its host has, and may resume it"`
	Phase   string          `json:"phase,omitempty" doc:"The phase of a room that is over, or whose host is away"`
	Reason  string          `json:"reason,omitempty"`
	Silent  bool            `json:"silent,omitempty" doc:"The other device has not answered for a while"`
	Offline *bool           `json:"offline,omitempty" doc:"Whether a relay says that the other device is not connected"`
	Problem *Problem        `json:"problem,omitempty" doc:"The last line: why the watch has ended"`
}

// A PeerSay is a message in a room of another owner's device.
type PeerSay struct {
	Watch string `json:"watch,omitempty" maxLength:"64" doc:"The watch through which it is posted; without it any of the room, or a new one"`
	Room  string `json:"room,omitempty" maxLength:"64" doc:"The room; without it the only one that this device may watch"`
	Text  string `json:"text"`
}
