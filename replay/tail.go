package replay

import (
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A tail keeps what policies may read of the newest messages: as many as an
// input can hold, and of each no more than a policy can ask for. A room's
// state keeps less, because a room can read its log again.
type tail struct {
	most int // bytes of a text; 0 for all
	ring []spoken
	n    int
}

type spoken struct {
	seq  int64
	text string
}

// keep notes what e says, if it is a message.
func (t *tail) keep(e *room.Event) {
	b, ok := e.Body.(room.MessagePosted)
	if !ok {
		return
	}
	text := shown(&b.Message)
	if t.most > 0 && len(text) > t.most {
		text = strings.Clone(text[:t.most])
	}
	if s := (spoken{e.Seq, text}); len(t.ring) < policy.MaxEvents {
		t.ring = append(t.ring, s)
	} else {
		t.ring[t.n%len(t.ring)] = s
	}
	t.n++
}

// text is a [room.TextFunc].
func (t *tail) text(seq int64) (string, error) {
	for i := t.n - 1; i >= max(0, t.n-len(t.ring)); i-- {
		if s := &t.ring[i%len(t.ring)]; s.seq <= seq {
			if s.seq == seq {
				return s.text, nil
			}
			break
		}
	}
	return "", nil
}

// longest is how much of a text the subjects may be handed, and a little more,
// so that what was cut can be told from what was not.
func longest(subjects []Subject) int {
	const rune4 = 4
	most := 0
	for _, s := range subjects {
		n := s.Ref.Needs.MaxTextBytes
		if n <= 0 {
			n = policy.DefText
		}
		most = max(most, n+rune4)
	}
	return most
}
