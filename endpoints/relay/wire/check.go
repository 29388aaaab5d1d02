package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// Bounds of a Request.
const (
	maxSeats     = 256
	maxLines     = 4096
	maxTimeoutMS = int64(24 * time.Hour / time.Millisecond)
)

// MaxSessionID bounds an agent session id, in bytes.
const MaxSessionID = 64

// ID returns the wire form of an id or a kind. One that has the form of
// endpoint.ValidID is unchanged, and "" too. Others, such as the name of a
// spectator with a space, become such an id: other characters become '-', and a
// hash keeps two of them apart.
func ID(s string) string {
	if s == "" || endpoint.ValidID(s) {
		return s
	}
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s)
	hash := ShortHash(s)
	return "x-" + plain[:min(len(plain), endpoint.MaxID-len("x--")-len(hash))] + "-" + hash
}

// ParticipantOf returns the id of the participant of p whose wire form is id. An
// id that no participant has is returned unchanged.
func ParticipantOf(p endpoint.Prompt, id string) string {
	for _, s := range p.Seats {
		if ID(s.ID) == id {
			return s.ID
		}
	}
	return id
}

// specialist begins the wire form of a seat with the role specialist (note on
// messages between managers and workers).
const specialist = "specialist:"

// seatID returns the id in the wire form of a sender or an addressee: the id
// itself, or for a seat with the role specialist also "specialist:" and its id.
func (q Request) seatID(s string) (id string, ok bool) {
	name, found := strings.CutPrefix(s, specialist)
	if !found {
		return s, endpoint.ValidID(s)
	}
	return name, slices.ContainsFunc(q.Seats, func(x Seat) bool { return x.ID == name && x.Role == "specialist" })
}

// Check returns an error if a field of q is out of its bounds. Ids and kinds must
// have the form of ids in room.yaml, because they stand outside the quotes of a
// prompt. No two seats may have the same id, and own marks exactly the messages
// from You.
func (q Request) Check() error {
	switch {
	case len(q.Seats) > maxSeats || len(q.Inbox)+len(q.History)+len(q.CatchUp) > maxLines:
		return errors.New("it holds too many seats or messages")
	case !endpoint.ValidID(q.You):
		return errors.New("it names no agent")
	case !slices.Contains([]string{"", "manual", "semi_auto", "full_auto"}, q.Mode):
		return errors.New("no mode " + endpoint.Quote(q.Mode))
	case q.MaxOutputChars < 0 || q.MaxHistoryTurns < 0 || q.MaxHistoryChars < 0 || q.MaxToolRounds < 0:
		return errors.New("a number is negative")
	case len(q.Knows) > MaxSessionID:
		return errors.New("its agent session id is too long")
	case q.TimeoutMS < 0 || q.TimeoutMS > maxTimeoutMS:
		return errors.New("its time-out is out of bounds")
	}
	return errors.Join(q.checkSeats(), q.checkLines(), q.checkMail(), q.Omissions.check())
}

func (q Request) checkSeats() error {
	seen := map[string]bool{}
	for _, s := range q.Seats {
		switch folded := strings.ToLower(s.ID); {
		case !endpoint.ValidID(s.ID) || s.Kind != "" && !endpoint.ValidID(s.Kind):
			return fmt.Errorf("the seat %s has an invalid id or kind", endpoint.Quote(s.ID))
		case seen[folded], s.ID != q.You && folded == strings.ToLower(q.You):
			return fmt.Errorf("two seats have the id %s", s.ID)
		default:
			seen[folded] = true
		}
	}
	return nil
}

func (q Request) checkLines() error {
	for _, l := range slices.Concat(q.Inbox, q.History, q.CatchUp) {
		from, known := q.seatID(l.From)
		_, addressed := q.seatID(l.To)
		switch {
		case !known || l.To != "" && !addressed || l.Kind != "" && !endpoint.ValidID(l.Kind):
			return fmt.Errorf("message %d has an invalid sender, addressee or kind", l.Seq)
		case l.Own != (from == q.You):
			return fmt.Errorf("message %d is from %s, which own contradicts", l.Seq, from)
		}
	}
	return nil
}

func (o *Omissions) check() error {
	if o == nil {
		return nil
	}
	bad := len(o.Spans) > maxLines || o.LinesTo < 0 || o.Unsent < 0
	for _, s := range o.Spans {
		bad = bad || s.To < 0 || s.Messages < 0 || len(s.By) > maxSeats ||
			slices.ContainsFunc(s.By, func(c Count) bool { return !endpoint.ValidID(c.From) || c.Messages < 0 })
	}
	if bad {
		return errors.New("what it leaves out is not counted in valid numbers and ids")
	}
	return nil
}
