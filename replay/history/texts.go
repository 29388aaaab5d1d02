package history

import (
	"strings"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// recentTexts is a ring buffer of the newest message texts: as many as an
// input of a policy can hold, each cut to maxBytes. A state of a room keeps
// fewer, because a running room reads its log again.
type recentTexts struct {
	maxBytes int // 0 keeps whole texts
	ring     []recentText
	n        int
}

type recentText struct {
	seq  int64
	text string
}

// add stores the text of e if it is a message.
func (t *recentTexts) add(e *room.Event) {
	b, ok := e.Body.(room.MessagePosted)
	if !ok {
		return
	}
	text := readableText(&b.Message)
	if t.maxBytes > 0 && len(text) > t.maxBytes {
		text = strings.Clone(text[:t.maxBytes])
	}
	if x := (recentText{e.Seq, text}); len(t.ring) < policy.MaxEvents {
		t.ring = append(t.ring, x)
	} else {
		t.ring[t.n%len(t.ring)] = x
	}
	t.n++
}

// text is a [room.TextFunc]. A text that is no longer kept is empty.
func (t *recentTexts) text(seq int64) (string, error) {
	for i := t.n - 1; i >= max(0, t.n-len(t.ring)); i-- {
		if x := &t.ring[i%len(t.ring)]; x.seq <= seq {
			if x.seq == seq {
				return x.text, nil
			}
			break
		}
	}
	return "", nil
}
