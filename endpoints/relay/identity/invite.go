package identity

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// A Grant is the role of an invited device.
type Grant uint8

// The grants. The zero Grant permits nothing.
const (
	GrantAgent    Grant = 1 // its agent may take a seat
	GrantObserver Grant = 2 // it may watch and send messages
	GrantSeat     Grant = 3 // its session may hold the seat of the invite
)

// String returns "agent", "observer" or "seat".
func (g Grant) String() string {
	switch g {
	case GrantAgent:
		return "agent"
	case GrantObserver:
		return "observer"
	case GrantSeat:
		return "seat"
	}
	return "none"
}

// MarshalText returns the same as String.
func (g Grant) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText parses the form of String.
func (g *Grant) UnmarshalText(b []byte) error {
	for _, known := range []Grant{0, GrantAgent, GrantObserver, GrantSeat} {
		if known.String() == string(b) {
			*g = known
			return nil
		}
	}
	return fmt.Errorf("grant %.20q is not known", b)
}

// ParseGrant parses the form of String, except "none" and "seat".
func ParseGrant(s string) (Grant, bool) {
	for _, g := range []Grant{GrantAgent, GrantObserver} {
		if g.String() == s {
			return g, true
		}
	}
	return 0, false
}

// An Invite allows another device to pair with the device that issued it. It is
// a secret: any holder can use it.
type Invite struct {
	Relay   string // URL
	Host    KeyRecord
	ID      [16]byte // the relay sees it
	PSK     [32]byte // the relay never sees it
	Expires time.Time
	MaxUses uint8 // from 1 to 127
	Grant   Grant
	Room    string // restricts the grant to this room; may be empty
	Seat    string // of GrantSeat: the seat of Room that the device may hold
	Auto    bool   // the host accepts without asking a person
	// Commitment says that the host's release requires a commitment to the
	// digits. NewInvite sets it; invites of older releases lack it.
	Commitment bool
}

const (
	invitePrefix = "mootinv1."
	inviteLife   = 15 * time.Minute
	inviteFixed  = 16 + 32 + RecordSize + 8 + 1 + 1 + 1
	maxRelayURL  = 200
	maxRoomID    = 64
	maxSeatID    = 64
	maxUses      = 1<<7 - 1
	commitment   = 1 << 7 // in the byte of MaxUses, which releases without commitments do not read when they join
	maxInvite    = inviteFixed + 1 + maxRelayURL + 1 + maxRoomID + 1 + maxSeatID + checkSize
	checkSize    = 4
)

// ErrInvite reports a text that is not an invite, or is damaged.
var ErrInvite = errors.New("not an invite")

// NewInvite completes in. Relay is required. Zero fields get defaults: Expires
// 15 minutes from now, MaxUses 1, Grant agent. Host, ID and PSK are always set.
func NewInvite(d *Device, in Invite, now time.Time) (Invite, error) {
	in.Host = d.Record()
	_, _ = rand.Read(in.ID[:]) // does not fail
	_, _ = rand.Read(in.PSK[:])
	if in.Expires.IsZero() {
		in.Expires = now.Add(inviteLife)
	}
	in.Expires = in.Expires.UTC().Truncate(time.Second)
	in.MaxUses, in.Commitment = max(in.MaxUses, 1), true
	if in.Grant == 0 {
		in.Grant = GrantAgent
	}
	return in, in.check()
}

func (in Invite) check() error {
	u, err := url.Parse(in.Relay)
	switch {
	case err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%w: its relay is not a ws or wss URL", ErrInvite)
	case len(in.Relay) > maxRelayURL || !printable(in.Relay):
		return fmt.Errorf("%w: its relay's URL is too long or not printable", ErrInvite)
	case len(in.Room) > maxRoomID || !printable(in.Room):
		return fmt.Errorf("%w: its room's id is too long or not printable", ErrInvite)
	case in.MaxUses == 0 || in.MaxUses > maxUses || in.Grant != GrantAgent && in.Grant != GrantObserver && in.Grant != GrantSeat:
		return fmt.Errorf("%w: it grants nothing", ErrInvite)
	case len(in.Seat) > maxSeatID || !printable(in.Seat):
		return fmt.Errorf("%w: its seat's id is too long or not printable", ErrInvite)
	case in.Grant == GrantSeat && (in.Room == "" || in.Seat == "" || in.MaxUses > 1) || in.Grant != GrantSeat && in.Seat != "":
		return fmt.Errorf("%w: it is for one seat and one device, or for none", ErrInvite)
	case in.Host.Check(time.Time{}) != nil:
		return fmt.Errorf("%w: its key record is not signed by its host", ErrInvite)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r == utf8.RuneError }) < 0
}

// String returns the text for the other owner, about 300 characters. Never log
// it.
func (in Invite) String() string {
	b := append([]byte{}, in.ID[:]...)
	b = append(b, in.PSK[:]...)
	b = append(b, in.Host.Encode()...)
	b = binary.BigEndian.AppendUint64(b, uint64(in.Expires.Unix()))
	uses := in.MaxUses
	if in.Commitment {
		uses |= commitment
	}
	b = append(b, uses, byte(in.Grant), flags(in.Auto))
	b = append(append(b, byte(len(in.Relay))), in.Relay...)
	b = append(append(b, byte(len(in.Room))), in.Room...)
	if in.Grant == GrantSeat {
		b = append(append(b, byte(len(in.Seat))), in.Seat...)
	}
	sum := sha256.Sum256(b)
	return invitePrefix + base64url.EncodeToString(append(b, sum[:checkSize]...))
}

func flags(auto bool) byte {
	if auto {
		return 1
	}
	return 0
}

// ParseInvite parses an invite and ignores spaces and line breaks. It does not
// check the expiry, which the host does by its own clock. Errors wrap ErrInvite
// and never contain the text.
func ParseInvite(s string) (Invite, error) {
	if len(s) > 4*maxInvite {
		return Invite{}, fmt.Errorf("%w: it is too long", ErrInvite)
	}
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(s), ""), invitePrefix)
	if !ok {
		return Invite{}, fmt.Errorf("%w: it does not start with %q", ErrInvite, invitePrefix)
	}
	b, err := base64url.DecodeString(text)
	if err != nil || len(b) < checkSize || len(b) > maxInvite {
		return Invite{}, fmt.Errorf("%w: it is damaged or cut off", ErrInvite)
	}
	b, check := b[:len(b)-checkSize], b[len(b)-checkSize:]
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:checkSize], check) {
		return Invite{}, fmt.Errorf("%w: it is damaged or cut off", ErrInvite)
	}
	in, err := decodeInvite(b)
	if err != nil {
		return Invite{}, err
	}
	return in, in.check()
}

func decodeInvite(b []byte) (in Invite, err error) {
	if len(b) < inviteFixed {
		return in, fmt.Errorf("%w: it is too short", ErrInvite)
	}
	in.ID, in.PSK = [16]byte(b[:16]), [32]byte(b[16:48])
	if in.Host, err = DecodeRecord(b[48 : 48+RecordSize]); err != nil {
		return in, fmt.Errorf("%w: %w", ErrInvite, err)
	}
	b = b[48+RecordSize:]
	end := binary.BigEndian.Uint64(b)
	in.Expires, in.Grant, in.Auto = time.Unix(int64(end), 0).UTC(), Grant(b[9]), b[10] == 1
	in.MaxUses, in.Commitment = b[8]&^commitment, b[8]&commitment != 0
	if end > 1<<40 || b[10] > 1 {
		return in, fmt.Errorf("%w: a field is out of bounds", ErrInvite)
	}
	b = b[11:]
	fields := []*string{&in.Relay, &in.Room}
	if in.Grant == GrantSeat {
		fields = append(fields, &in.Seat)
	}
	for _, field := range fields {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return in, fmt.Errorf("%w: it is cut off", ErrInvite)
		}
		*field, b = string(b[1:1+int(b[0])]), b[1+int(b[0]):]
	}
	if len(b) != 0 {
		return in, fmt.Errorf("%w: it has trailing bytes", ErrInvite)
	}
	return in, nil
}
