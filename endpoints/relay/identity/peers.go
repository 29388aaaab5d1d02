package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/folkmoot/moot/problem"
)

// Errors of Peers.
var (
	ErrNoPeer   = errors.New("no such peer")
	ErrPeerName = errors.New("the name cannot be given to this peer")
	ErrRevoked  = errors.New("the device was revoked")
)

const (
	maxPeers     = 1000
	maxRevoked   = 1000
	maxPeerName  = 64
	maxPeerSeats = 100 // of one peer; the oldest go first
)

// A Peer is a device that is paired with this one.
type Peer struct {
	ID       DeviceID  `json:"id"`
	Record   KeyRecord `json:"record"`          // the latest that it has sent
	PairPSK  []byte    `json:"pair_psk"`        // 32 bytes, the shared secret of the pair
	Mine     []byte    `json:"mine"`            // our X25519 key that it knows
	Name     string    `json:"name"`            // unique in this store; proposed by its owner
	Grant    Grant     `json:"grant"`           // its role here; zero: none, because this device joined it
	Room     string    `json:"room,omitempty"`  // restricts the grant to a room; empty: any
	Relay    string    `json:"relay,omitempty"` // URL of the common relay
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen,omitzero"` // accurate to an hour
	Verified time.Time `json:"verified,omitzero"`  // when the owners compared the digits
	Changed  time.Time `json:"changed,omitzero"`   // when it paired again with other keys; suspended until accepted
	Digits   string    `json:"digits,omitempty"`   // digits of the pairing, to compare later
	Seats    []SeatRef `json:"seats,omitempty"`    // of rooms of this device, which it may hold
	Holds    []SeatRef `json:"holds,omitempty"`    // of its rooms, which this device may hold
}

// A SeatRef names a seat of a room.
type SeatRef struct {
	Room string `json:"room"`
	Seat string `json:"seat"`
}

// Suspended reports whether a person must first accept the peer's new keys.
func (p Peer) Suspended() bool { return !p.Changed.IsZero() }

// HoldsSeatOf reports whether this device may hold a seat of a room of the peer.
func (p Peer) HoldsSeatOf(room string) bool {
	return slices.ContainsFunc(p.Holds, func(s SeatRef) bool { return s.Room == room })
}

type peerFile struct {
	V       int        `json:"v"`
	Peers   []Peer     `json:"peers"`
	Revoked []DeviceID `json:"revoked,omitempty"` // may not be paired again
}

// Peers is the store of peers: one file with mode 0600. It is safe for
// concurrent use, also by several processes: a running `moot share` no longer
// finds a peer that `moot peers rm` has removed.
type Peers struct{ file jsonFile[peerFile] }

// OpenPeers opens the store at path. The first Add creates the file.
func OpenPeers(path string) (*Peers, error) {
	p := &Peers{file: jsonFile[peerFile]{path: path, check: checkPeers}}
	return p, p.file.read(func(*peerFile) {})
}

func checkPeers(f *peerFile) error {
	if f.V != 1 || len(f.Peers) > maxPeers || len(f.Revoked) > maxRevoked {
		return fmt.Errorf("version %d with %d peers is not supported", f.V, len(f.Peers))
	}
	ids, names := map[DeviceID]bool{}, map[string]bool{}
	for _, p := range f.Peers {
		switch {
		case len(p.PairPSK) != 32 || len(p.Mine) != 32 || p.Record.ID != p.ID:
			return fmt.Errorf("peer %s is not complete", p.ID.Short())
		case p.Record.Check(time.Time{}) != nil:
			return fmt.Errorf("the key record of peer %s is not signed by it", p.ID.Short())
		case CleanName(p.Name) != p.Name || p.Name == "":
			return fmt.Errorf("peer %s has no proper name", p.ID.Short())
		case ids[p.ID] || names[strings.ToLower(p.Name)]:
			return fmt.Errorf("peer %s occurs twice, or its name does", p.ID.Short())
		}
		ids[p.ID], names[strings.ToLower(p.Name)] = true, true
	}
	return nil
}

// List returns all peers, sorted by name.
func (p *Peers) List() ([]Peer, error) {
	var all []Peer
	err := p.file.read(func(f *peerFile) { all = slices.Clone(f.Peers) })
	slices.SortFunc(all, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Lookup returns the peer with this id, or ErrNoPeer.
func (p *Peers) Lookup(id DeviceID) (Peer, error) {
	return p.find(func(q Peer) bool { return q.ID == id }, id.Short())
}

// Find returns the peer with this name, or with this id in any form. Error:
// ErrNoPeer.
func (p *Peers) Find(nameOrID string) (Peer, error) {
	id, err := ParseDeviceID(nameOrID)
	return p.find(func(q Peer) bool { return strings.EqualFold(q.Name, nameOrID) || err == nil && q.ID == id }, nameOrID)
}

func (p *Peers) find(is func(Peer) bool, what string) (peer Peer, err error) {
	i := -1
	err = p.file.read(func(f *peerFile) {
		if i = slices.IndexFunc(f.Peers, is); i >= 0 {
			peer = f.Peers[i]
		}
	})
	if err == nil && i < 0 {
		err = unknownPeer(what)
	}
	return peer, err
}

func unknownPeer(what string) error {
	return &problem.Error{Code: "RELAY-PEER", What: fmt.Sprintf("no device %q is paired with this one", what), Fix: "`moot peers ls` lists them; an invite pairs a new one", Kind: ErrNoPeer}
}

// Add stores a peer after pairing and returns it as stored. If another peer has
// the name, a number is appended. A device that was paired before keeps its
// name and its seats. No other peer keeps a seat that this one gets.
func (p *Peers) Add(n Peer) (Peer, error) {
	err := p.file.update(func(f *peerFile) error {
		if slices.Contains(f.Revoked, n.ID) {
			return &problem.Error{Code: "RELAY-REVOKED", What: "device " + n.ID.Short() + "... was revoked, so it is not paired again", Fix: "if it is safe again: `moot device revoke --undo " + n.ID.String() + "`", Kind: ErrRevoked}
		}
		f.V = 1
		n.Name = CleanName(n.Name)
		if n.Name == "" {
			n.Name = n.ID.Short()
		}
		if i := slices.IndexFunc(f.Peers, func(q Peer) bool { return q.ID == n.ID }); i >= 0 {
			n.keep(f.Peers[i])
			f.Peers = slices.Delete(f.Peers, i, i+1)
		}
		for i := range f.Peers { // a seat is held by one device
			f.Peers[i].Seats = without(f.Peers[i].Seats, n.Seats)
		}
		n.Name = freeName(f.Peers, n.Name)
		f.Peers = append(f.Peers, n)
		return checkPeers(f)
	})
	return n, err
}

// keep takes over what the peer is and has from before it was paired again.
func (p *Peer) keep(old Peer) {
	p.Name = old.Name
	if p.Grant == GrantSeat && old.Grant != 0 || p.Grant == 0 && len(p.Holds) > 0 { // of a seat: nothing else changes
		p.Grant, p.Room = old.Grant, old.Room
	}
	p.Seats, p.Holds = joined(old.Seats, p.Seats), joined(old.Holds, p.Holds)
}

// joined returns the seats of both lists, the newest last.
func joined(old, added []SeatRef) []SeatRef {
	all := append(without(old, added), added...)
	return all[max(0, len(all)-maxPeerSeats):]
}

// without returns the seats that are not in the list of removed ones.
func without(all, removed []SeatRef) (kept []SeatRef) {
	for _, s := range all {
		if !slices.Contains(removed, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Update applies edit to the peer with this id and saves it. It does not change
// the id or the name.
func (p *Peers) Update(id DeviceID, edit func(*Peer)) error {
	return p.edit(id, func(f *peerFile, q *Peer) error {
		name := q.Name
		edit(q)
		q.ID, q.Name = id, name
		return checkPeers(f)
	})
}

// Rename changes the name of a peer. It returns ErrPeerName if the name is
// empty, too long, not printable, in use, or looks like a device id.
func (p *Peers) Rename(id DeviceID, name string) error {
	bad := func(why string) error {
		return &problem.Error{Code: "RELAY-PEER-NAME", What: fmt.Sprintf("a peer cannot be called %.80q: %s", name, why), Fix: "choose a name of up to 64 printable characters that no other peer has", Kind: ErrPeerName}
	}
	if CleanName(name) != name || name == "" {
		return bad("it is empty, too long or not printable")
	}
	if _, err := ParseDeviceID(name); err == nil {
		return bad("it looks like a device id")
	}
	return p.edit(id, func(f *peerFile, peer *Peer) error {
		if slices.ContainsFunc(f.Peers, func(q Peer) bool { return q.ID != id && strings.EqualFold(q.Name, name) }) {
			return bad("another peer has this name")
		}
		peer.Name = name
		return nil
	})
}

// Remove deletes a peer. This device then no longer answers it.
func (p *Peers) Remove(id DeviceID) error {
	return p.edit(id, func(f *peerFile, _ *Peer) error {
		f.Peers = slices.DeleteFunc(f.Peers, func(q Peer) bool { return q.ID == id })
		return nil
	})
}

// Revoke removes a device from the peers, if it is one, and refuses to pair with
// it again until Unrevoke.
func (p *Peers) Revoke(id DeviceID) error {
	return p.file.update(func(f *peerFile) error {
		f.V = 1
		f.Peers = slices.DeleteFunc(f.Peers, func(q Peer) bool { return q.ID == id })
		if !slices.Contains(f.Revoked, id) {
			f.Revoked = append(f.Revoked, id)
		}
		return checkPeers(f)
	})
}

// Unrevoke allows pairing with a device again. It reports whether the device was
// revoked.
func (p *Peers) Unrevoke(id DeviceID) (was bool, err error) {
	err = p.file.update(func(f *peerFile) error {
		f.V = 1
		was = slices.Contains(f.Revoked, id)
		f.Revoked = slices.DeleteFunc(f.Revoked, func(q DeviceID) bool { return q == id })
		return nil
	})
	return was, err
}

// edit calls change with the peer of this id, in f, and saves the result.
func (p *Peers) edit(id DeviceID, change func(f *peerFile, peer *Peer) error) error {
	return p.file.update(func(f *peerFile) error {
		i := slices.IndexFunc(f.Peers, func(q Peer) bool { return q.ID == id })
		if i < 0 {
			return unknownPeer(id.Short())
		}
		return change(f, &f.Peers[i])
	})
}

// Verify records that the owners compared the digits, and ends a suspension.
func (p *Peers) Verify(id DeviceID, now time.Time) error {
	return p.Update(id, func(q *Peer) { q.Verified, q.Changed = now.UTC(), time.Time{} })
}

// CleanName returns s as a safe display name: one line of at most 64 printable
// characters. The result may be empty.
func CleanName(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if !nameRune(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxPeerName {
		s = strings.TrimSpace(string([]rune(s)[:maxPeerName]))
	}
	return s
}

func freeName(peers []Peer, name string) string {
	taken := func(s string) bool {
		return slices.ContainsFunc(peers, func(q Peer) bool { return strings.EqualFold(q.Name, s) })
	}
	free := name
	for i := 2; taken(free); i++ {
		suffix := fmt.Sprintf(" %d", i)
		free = string([]rune(name)[:min(utf8.RuneCountInString(name), maxPeerName-len(suffix))]) + suffix
	}
	return free
}

// nameRune reports whether a name may contain r: printable characters and the
// space, but no control or format characters such as bidirectional overrides.
func nameRune(r rune) bool {
	return r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar && !unicode.Is(unicode.Cf, r)
}
