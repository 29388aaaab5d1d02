package transcripts

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Write writes the portable format: the header, then the entries in order. It
// sets h.Version. The same log always gives the same bytes.
func Write(w io.Writer, h Header, entries iter.Seq2[log.Entry, error]) error {
	h.Version = Version
	if err := h.check(); err != nil {
		return fmt.Errorf("writing transcript: %w", err)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := writeLine(out, h); err != nil {
		return err
	}
	form := lineEncoder(h)
	var n int64
	for e, err := range entries {
		if err != nil {
			return fmt.Errorf("reading room %s: %w", h.Room, err)
		}
		line, err := form(e)
		if err != nil {
			return fmt.Errorf("writing event %d of room %s: %w", e.Seq, h.Room, err)
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return fmt.Errorf("writing transcript: %w", err)
		}
		n++
	}
	if h.Events > 0 && n != h.Events {
		return fmt.Errorf("writing transcript: room %s has %d events, not %d", h.Room, n, h.Events)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing transcript: %w", err)
	}
	return nil
}

// Entries returns entries for events without a log.
func Entries(events []room.Event) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for _, e := range events {
			raw, err := room.MarshalEvent(e)
			if !yield(log.Entry{Pos: log.Pos{Seq: uint64(e.Seq)}, Event: e, Raw: raw}, err) || err != nil {
				return
			}
		}
	}
}

func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing transcript: %w", err)
	}
	return nil
}

// lineEncoder returns the encoder of entries for the level of h.
func lineEncoder(h Header) func(log.Entry) ([]byte, error) {
	if h.Level == All {
		return func(e log.Entry) ([]byte, error) { return fullLine(e, h.Chain) }
	}
	cut := redactor{level: h.Level}
	return func(e log.Entry) ([]byte, error) {
		e.Event = cut.event(e.Event)
		if e.Redacted {
			b, err := redactedLine(e)
			return append(b, '}'), err
		}
		raw, err := room.MarshalEvent(e.Event)
		return fmt.Appendf(nil, `{"event":%s}`, raw), err
	}
}

// redactedLine starts the line of a redacted event with its stub.
func redactedLine(e log.Entry) ([]byte, error) {
	b := fmt.Appendf(nil, `{"redacted":%d`, e.Seq)
	if e.Event.Body == nil {
		return b, nil
	}
	raw, err := room.MarshalEvent(e.Event)
	return fmt.Appendf(b, `,"event":%s`, raw), err
}

// fullLine encodes the stored bytes of an entry.
func fullLine(e log.Entry, chain bool) (b []byte, err error) {
	switch {
	case e.Redacted:
		if b, err = redactedLine(e); err != nil {
			return nil, err
		}
		if chain {
			b = appendHex(b, "commit", e.Commit[:])
		}
	case bytes.ContainsAny(e.Raw, "\r\n"):
		return nil, fmt.Errorf("the stored event contains a line break")
	default:
		b = fmt.Appendf(b, `{"event":%s`, e.Raw)
		if chain {
			b = appendHex(b, "salt", e.Salt)
		}
	}
	if chain {
		if !chained(e) {
			return nil, fmt.Errorf("the entry has no hash")
		}
		b = appendHex(b, "hash", e.Hash[:])
	}
	return append(b, '}'), nil
}

func appendHex(b []byte, key string, value []byte) []byte {
	b = fmt.Appendf(b, `,"%s":"`, key)
	return append(hex.AppendEncode(b, value), '"')
}
