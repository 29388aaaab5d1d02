package coordinator

import (
	"context"
	"fmt"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Bounds of the newest messages that a room keeps at hand, so that a prompt
// seldom reads the log.
const (
	cachedMessages = 512
	cachedBytes    = 128 << 10
)

// texts gives the messages of spans: the newest from memory, the rest from
// the log.
type texts struct {
	log   Log
	room  string
	msgs  []said // oldest first
	bytes int
}

// said is a message with its place in the log.
type said struct {
	seq int64
	m   room.Message
}

func (t *texts) add(seq int64, m room.Message) {
	t.msgs = append(t.msgs, said{seq, m})
	t.bytes += len(m.Text)
	drop := 0
	for t.bytes > cachedBytes || len(t.msgs)-drop > cachedMessages {
		t.bytes -= len(t.msgs[drop].m.Text)
		drop++
	}
	if drop > 0 {
		kept := copy(t.msgs, t.msgs[drop:])
		clear(t.msgs[kept:])
		t.msgs = t.msgs[:kept]
	}
}

// span returns the messages from from to to, both included.
func (t *texts) span(ctx context.Context, from, to int64) ([]said, error) {
	var out []said
	cached := to + 1
	if len(t.msgs) > 0 {
		cached = t.msgs[0].seq
	}
	if from < cached {
		older, err := t.read(ctx, from, min(to, cached-1))
		if err != nil {
			return nil, err
		}
		out = older
	}
	for _, s := range t.msgs {
		if s.seq >= from && s.seq <= to {
			out = append(out, s)
		}
	}
	return out, nil
}

// page is how many events are read from the log at a time.
const page = 1000

func (t *texts) read(ctx context.Context, from, to int64) ([]said, error) {
	var out []said
	at := log.At(from - 1)
	for int64(at.Seq) < to {
		entries, err := t.log.Read(ctx, t.room, at, int(min(page, to-int64(at.Seq))))
		if err != nil {
			return nil, fmt.Errorf("reading messages %d to %d: %w", from, to, err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if b, ok := e.Event.Body.(room.MessagePosted); ok {
				out = append(out, said{e.Event.Seq, b.Message})
			}
		}
		at = entries[len(entries)-1].Pos
	}
	return out, nil
}

// text is a room.TextFunc.
func (t *texts) text(seq int64) (string, error) {
	found, err := t.span(context.Background(), seq, seq)
	if err != nil || len(found) == 0 {
		return "", err
	}
	switch m := found[0].m; m.Visibility {
	case room.Internal:
		return "", nil
	case room.UserRedacted:
		return m.Summary, nil
	default:
		return m.Text, nil
	}
}
