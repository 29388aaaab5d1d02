package transcripts

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A Reader reads a transcript in either format, plain or compressed with gzip.
// It is not safe for concurrent use.
type Reader struct {
	// Header is the header of the portable format. Its Version is 0 for the
	// neutral format.
	Header Header

	lines      *lineReader
	decisions  bool
	eventsOnly bool // the lines are events alone
}

// NewReader detects the format from the first line of r. name is the name of the
// file in errors.
func NewReader(r io.Reader, name string) (*Reader, error) {
	l, err := newLineReader(r, name)
	if err != nil {
		return nil, err
	}
	line, err := l.next()
	if errors.Is(err, io.EOF) {
		return nil, l.readError("file is empty", nil)
	}
	if err != nil {
		return nil, err
	}
	t := &Reader{lines: l}
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte(`{"moot_transcript"`)) {
		l.unread(line)
		t.Header, t.eventsOnly = eventStreamHeader(line)
		t.decisions = !t.eventsOnly && isDecisionList(line)
		return t, nil
	}
	if err := strict.Decode(line, maxDepth, &t.Header); err != nil {
		return nil, l.readError(err.Error(), nil)
	}
	if err := t.Header.check(); err != nil {
		return nil, l.readError(err.Error(), nil)
	}
	return t, nil
}

// eventStreamHeader returns the header for a stream of events without one, as
// `moot run -o jsonl` prints it. Its first line is room.opened.
func eventStreamHeader(line []byte) (Header, bool) {
	if e, err := room.UnmarshalEvent(line); err == nil {
		if b, ok := e.Body.(room.Opened); ok {
			return Header{Version: Version, Room: b.Spec.Room, Level: Internal}, true
		}
	}
	return Header{}, false
}

// Portable reports whether the file is in the portable format. Then it has
// entries, otherwise conversations.
func (t *Reader) Portable() bool { return t.Header.Version != 0 }

// OnlyDecisions reports whether the file has decisions of conversations that another
// file holds.
func (t *Reader) OnlyDecisions() bool { return t.decisions }

// Conversations returns the conversations of a file in the neutral format.
func (t *Reader) Conversations() iter.Seq2[*Conversation, error] { return conversations(t.lines) }

// Entries returns the entries of a file in the portable format. It verifies
// order, count and the hash chain, if there is one. The sequence ends after an
// error.
func (t *Reader) Entries() iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		var last log.Entry
		for {
			e, err := t.entry(last)
			if errors.Is(err, io.EOF) {
				if missing := t.Header.Events - int64(last.Seq); t.Header.Events > 0 && missing != 0 {
					yield(e, t.lines.readError(fmt.Sprintf("file is cut short: %d of %d events are missing", missing, t.Header.Events), nil))
				}
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
			last = e
		}
	}
}

// entry reads the entry that follows last.
func (t *Reader) entry(last log.Entry) (log.Entry, error) {
	line, err := t.lines.next()
	if err != nil {
		return log.Entry{}, err
	}
	if t.eventsOnly && last.Seq > 0 && bytes.HasPrefix(line, []byte(`{"summary":`)) {
		return log.Entry{}, io.EOF // `moot run -o jsonl` ends with it
	}
	e, err := t.decode(line)
	if err == nil && e.Seq != last.Seq+1 {
		err = fmt.Errorf("event %d follows event %d", e.Seq, last.Seq)
		if e.Seq > last.Seq+1 {
			err = fmt.Errorf("event %d is missing: %w", last.Seq+1, err)
		}
	}
	if err != nil {
		return e, t.lines.readError(err.Error(), err)
	}
	if t.Header.Chain && log.Check(t.Header.Room, last.Seq, last.Hash, []log.Entry{e}) != nil {
		return e, t.lines.chainError(e.Seq)
	}
	return e, nil
}

func (t *Reader) decode(line []byte) (log.Entry, error) {
	if t.eventsOnly {
		return decodeBody(entryLine{Event: bytes.Clone(line)}) // the reader reuses the line
	}
	return decodeEntry(line, t.Header)
}

// An entryLine is one line after the header.
type entryLine struct {
	Event    json.RawMessage `json:"event"`
	Redacted uint64          `json:"redacted"`
	Salt     string          `json:"salt"`
	Commit   string          `json:"commit"`
	Hash     string          `json:"hash"`
}

func decodeEntry(line []byte, h Header) (log.Entry, error) {
	var w entryLine
	if err := strict.Decode(line, maxDepth, &w); err != nil {
		return log.Entry{}, err
	}
	if w.Event == nil && w.Redacted == 0 {
		return log.Entry{}, errors.New(`"event" and "redacted" are missing`)
	}
	e, err := decodeBody(w)
	if err != nil || !h.Chain {
		return e, err
	}
	return e, decodeChain(&e, w)
}

// decodeBody decodes the event. A redacted event may still have a stub.
func decodeBody(w entryLine) (log.Entry, error) {
	e := log.Entry{Pos: log.Pos{Seq: w.Redacted}, Redacted: w.Redacted != 0, Event: room.Event{Seq: int64(w.Redacted)}}
	if w.Event == nil {
		return e, nil
	}
	event, err := room.UnmarshalEvent(w.Event)
	switch {
	case err != nil:
		return e, err
	case event.Seq < 1, e.Redacted && event.Seq != int64(w.Redacted):
		return e, fmt.Errorf("event has the sequence number %d", event.Seq)
	}
	e.Seq, e.Event = uint64(event.Seq), event
	if !e.Redacted {
		e.Raw = w.Event
	}
	return e, nil
}

func decodeChain(e *log.Entry, w entryLine) error {
	if err := fromHex(e.Hash[:], "hash", w.Hash); err != nil {
		return err
	}
	if e.Redacted {
		return fromHex(e.Commit[:], "commit", w.Commit)
	}
	e.Salt = make([]byte, log.SaltSize)
	if err := fromHex(e.Salt, "salt", w.Salt); err != nil {
		return err
	}
	e.Commit = log.Commit(e.Salt, e.Raw)
	return nil
}

func fromHex(to []byte, key, s string) error {
	if len(s) != 2*len(to) {
		return fmt.Errorf("%q has %d characters instead of %d", key, len(s), 2*len(to))
	}
	if _, err := hex.Decode(to, []byte(s)); err != nil {
		return fmt.Errorf("%q is not a hexadecimal number", key)
	}
	return nil
}
