package calls

import (
	"crypto/sha256"
	"strconv"
	"time"
)

// MaxDepth is the largest depth of calls: a call of a call and so on.
const MaxDepth = 5

// A Target is an agent that a call names.
type Target struct {
	Agent   string
	Profile string
}

// Check says why the agents of a call path may not call that agent, or returns "". chain
// is the path with the caller as its last link. An agent on the path waits for the
// result, so that calling it again would be a cycle, the caller itself included. The same is true
// of another agent with its profile, because a profile answers one prompt at a time.
func Check(chain []Link, to Target, maxDepth int) string {
	if why := Cycle(chain, to); why != "" {
		return why
	}
	if most := min(maxDepth, MaxDepth); len(chain) > most {
		return "the calls would be " + strconv.Itoa(len(chain)) + " deep, and the limit is " + strconv.Itoa(most)
	}
	return ""
}

// Cycle is Check without the depth.
func Cycle(chain []Link, to Target) string {
	for i, l := range chain {
		switch {
		case l.Agent == to.Agent && i == len(chain)-1:
			return to.Agent + " would call itself"
		case l.Agent == to.Agent:
			return to.Agent + " is one of its callers: " + Path(chain)
		case l.Profile != "" && l.Profile == to.Profile:
			return to.Agent + " has the profile " + l.Profile + " of its caller " + l.Agent + ", which answers one prompt at a time"
		}
	}
	return ""
}

// Path renders a chain: "a calls b calls c".
func Path(chain []Link) string {
	text := ""
	for i, l := range chain {
		if i > 0 {
			text += " calls "
		}
		text += l.Agent
	}
	return text
}

// crockford is the alphabet of ids of rooms (ULID).
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// RoomID returns the id of the child room of a call: an id as other rooms have it,
// which begins with the time. The same call always gives the same id, so that a
// restarted host finds the room.
func RoomID(parent, secret, call string, at time.Time) string {
	sum := sha256.Sum256([]byte(parent + "\x00" + secret + "\x00" + call))
	var b [16]byte
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	copy(b[6:], sum[:])
	text := []byte("r_")
	for i := range 26 { // 130 bits, of which the first two are 0
		v := 0
		for bit := 5*i - 2; bit < 5*i+3; bit++ {
			v <<= 1
			if bit >= 0 && b[bit/8]&(0x80>>(bit%8)) != 0 {
				v |= 1
			}
		}
		text = append(text, crockford[v])
	}
	return string(text)
}
