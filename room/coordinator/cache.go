package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
)

// Limits of the messages that a room keeps in memory, so that a prompt seldom
// reads the log.
const (
	cachedMessages = 512
	cachedBytes    = 128 << 10
)

// A messageCache returns the messages of spans: the newest from memory, the
// others from the log.
type messageCache struct {
	log   Log
	room  string
	line  int             // length of a summary line in bytes
	msgs  []cachedMessage // oldest first; spans alias it until the next add
	first int64           // from this seq on no message is missing
	bytes int
}

// A cachedMessage is a message with its place in the log.
type cachedMessage struct {
	seq  int64
	m    room.Message
	line string // its line in summaries: number, sender and first sentence, cut
	open bool   // every participant reads its text as it is
}

func (t *messageCache) add(seq int64, m room.Message) {
	t.msgs = append(t.msgs, t.said(seq, m))
	t.bytes += len(m.Text)
	if t.bytes > 2*cachedBytes || len(t.msgs) > 2*cachedMessages {
		t.shrink()
	}
}

// shrink drops the oldest messages until the limits hold. It is called at twice
// the limits, so that its cost for each message is constant on average.
func (t *messageCache) shrink() {
	drop := 0
	for t.bytes > cachedBytes || len(t.msgs)-drop > cachedMessages {
		t.bytes -= len(t.msgs[drop].m.Text)
		drop++
	}
	t.first = t.msgs[drop-1].seq + 1
	kept := copy(t.msgs, t.msgs[drop:])
	clear(t.msgs[kept:])
	t.msgs = t.msgs[:kept]
}

func (t *messageCache) said(seq int64, m room.Message) cachedMessage {
	open := m.Visibility == room.UserVisible && m.Text != "" && !kinds.Typed(m.Kind) && !m.RequiresAck
	return cachedMessage{seq, m, summaryLine(seq, m.From, m.Text, t.line), open}
}

// summaryLine returns the line of a summary about one message, with at most
// most bytes of its first sentence.
func summaryLine(seq int64, from, text string, most int) string {
	return "#" + strconv.FormatInt(seq, 10) + " " + from + ": " + room.FirstSentence(text, most) + "\n"
}

// span returns the messages with from <= seq <= to.
func (t *messageCache) span(ctx context.Context, from, to int64) ([]cachedMessage, error) {
	i, j := t.at(from), t.at(to+1)
	if len(t.msgs) > 0 && from >= t.first {
		return t.msgs[i:j:j], nil
	}
	before := to
	if len(t.msgs) > 0 {
		before = min(to, t.msgs[0].seq-1)
	}
	older, err := t.read(ctx, from, before)
	return append(older, t.msgs[i:j]...), err
}

// at returns the index of the first message in memory that is not before seq.
func (t *messageCache) at(seq int64) int {
	i, _ := slices.BinarySearchFunc(t.msgs, seq, func(s cachedMessage, seq int64) int { return cmp.Compare(s.seq, seq) })
	return i
}

// page is the number of events in one read of the log.
const page = 1000

func (t *messageCache) read(ctx context.Context, from, to int64) ([]cachedMessage, error) {
	var out []cachedMessage
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
				out = append(out, t.said(e.Event.Seq, b.Message))
			}
		}
		at = entries[len(entries)-1].Pos
	}
	return out, nil
}

// text returns what a policy may see of the message at seq. It is a
// [room.TextFunc].
func (t *messageCache) text(seq int64) (string, error) {
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
