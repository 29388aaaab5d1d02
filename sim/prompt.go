package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/room"
)

// A text is a message of the log, as the host keeps it for prompts.
type text struct {
	seq int64
	m   room.Message
}

// noteText keeps the text of a message, or forgets one that was redacted.
func (h *hosted) noteText(e room.Event) {
	switch b := e.Body.(type) {
	case room.MessagePosted:
		h.texts = append(h.texts, text{e.Seq, b.Message})
	case room.Redacted:
		for i := range h.texts {
			if h.texts[i].seq == b.Target {
				h.texts[i].m.Text, h.texts[i].m.Summary, h.texts[i].m.Payload = "", "", nil
			}
		}
	}
}

// textOf returns the text of an event for the input of the policy.
func (h *hosted) textOf(seq int64) (string, error) {
	i, ok := slices.BinarySearchFunc(h.texts, seq, func(t text, seq int64) int { return int(t.seq - seq) })
	if !ok {
		return "", nil
	}
	return h.texts[i].m.Text, nil
}

// prompt returns the digest and the size of the prompt of a participant. The same window
// in the same state gives the same prompt.
func (h *hosted) prompt(id string, w room.Window, request string) (digest string, size int) {
	sum := sha256.New()
	fmt.Fprintln(sum, request, id)
	include := func(from, to int64) {
		i, _ := slices.BinarySearchFunc(h.texts, from, func(t text, seq int64) int { return int(t.seq - seq) })
		for ; i < len(h.texts) && h.texts[i].seq <= to; i++ {
			if m, ok := h.texts[i].m.VisibleTo(id); ok {
				fmt.Fprintln(sum, h.texts[i].seq, m.From, m.Text)
				size += len(m.Text) + 20
			}
		}
	}
	for _, seq := range w.First {
		include(seq, seq)
	}
	for _, spans := range [][]room.Span{w.Verbatim, w.Lines} {
		for _, p := range spans {
			include(p.From, p.To)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), size
}
