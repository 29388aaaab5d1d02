package transcripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Lenient is a conversation that was read although parts of it break the format.
type Lenient struct {
	*Conversation         // nil if nothing of its line can be used
	Line          int     // of the file
	Skipped       int     // turns and participants that were left out, or the whole line
	Changed       int     // of those that were kept, what was left out or ignored
	Faults        []error // that name the first of them
}

// maxFaults is how many faults of a conversation are named; all are counted.
const maxFaults = 20

// Lenient returns the conversations of a file in the neutral format, also those that
// break it in some turns. A turn or participant without an id is left out, and so are an
// addressee who is no participant and a key that is not known.
func (t *Reader) Lenient() iter.Seq2[Lenient, error] {
	return func(yield func(Lenient, error) bool) {
		for {
			line, err := t.lines.next()
			if errors.Is(err, io.EOF) {
				return
			}
			x := Lenient{Line: t.lines.n}
			if err == nil {
				x.decode(line)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// decode decodes a line, in parts if it breaks the format.
func (x *Lenient) decode(line []byte) {
	c, err := decodeConversation(line)
	if err == nil {
		x.Conversation = c
		return
	}
	var parts struct {
		ID           string            `json:"id"`
		Source       string            `json:"source"`
		License      string            `json:"license"`
		Participants []json.RawMessage `json:"participants"`
		Turns        []json.RawMessage `json:"turns"`
		Decisions    []json.RawMessage `json:"decisions"`
		Extra        policy.JSON       `json:"extra"`
	}
	if !x.part("", line, &parts) {
		return
	}
	c = &Conversation{ID: parts.ID, Source: parts.Source, License: parts.License, Extra: parts.Extra, Turns: []Turn{}}
	ids := x.participants(c, parts.Participants)
	kept := x.turns(c, parts.Turns, ids)
	x.decisions(c, parts.Decisions, kept, ids)
	if err := c.check(); err != nil {
		x.Skipped, x.Changed = 1, 0
		x.fault(err)
		return
	}
	x.Conversation = c
}

func (x *Lenient) fault(err error) {
	if len(x.Faults) < maxFaults {
		x.Faults = append(x.Faults, err)
	}
}

// part decodes a part of a line, without the keys that are not known.
func (x *Lenient) part(name string, raw []byte, v any) bool {
	err := strict.Decode(raw, maxDepth, v)
	if err == nil {
		return true
	}
	if name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	x.fault(err)
	if strict.Known(raw, maxDepth, v) != nil {
		x.Skipped++
		return false
	}
	x.Changed++
	return true
}

// participants adds the participants that have an id of their own.
func (x *Lenient) participants(c *Conversation, list []json.RawMessage) map[string]bool {
	ids := make(map[string]bool, len(list))
	for i, raw := range list {
		var p Participant
		name := fmt.Sprintf("participants[%d]", i)
		if !x.part(name, raw, &p) {
			continue
		}
		if err := p.check(ids); err != nil {
			x.Skipped++
			x.fault(fmt.Errorf("%s: %w", name, err))
			continue
		}
		ids[p.ID] = true
		c.Participants = append(c.Participants, p)
	}
	return ids
}

// turns adds the turns of participants, with new numbers. It returns how many of the
// turns before each index are kept.
func (x *Lenient) turns(c *Conversation, list []json.RawMessage, ids map[string]bool) []int {
	kept := make([]int, 0, len(list)+1)
	for i, raw := range list {
		kept = append(kept, len(c.Turns))
		var t Turn
		name := fmt.Sprintf("turns[%d]", i)
		if !x.part(name, raw, &t) {
			continue
		}
		if t.I != i {
			x.Changed++
			x.fault(fmt.Errorf("%s: i is %d", name, t.I))
		}
		t.I = len(c.Turns)
		x.addressees(&t, name, ids)
		if t.Kind != "" && !ValidKind(t.Kind) {
			x.Changed++
			x.fault(fmt.Errorf("%s: kind %.40q is none that participants send", name, t.Kind))
			t.Kind, t.MessageID, t.Correlation = "", "", ""
		}
		if wrong := t.Usage.OutOfRange(); wrong != "" {
			x.Changed++
			x.fault(fmt.Errorf("%s: %s of the usage is out of range", name, wrong))
			t.Usage = room.Usage{}
		}
		if err := t.check(t.I, ids); err != nil {
			x.Skipped++
			x.fault(fmt.Errorf("%s: %w", name, err))
			continue
		}
		c.Turns = append(c.Turns, t)
	}
	return append(kept, len(c.Turns))
}

// decisions adds the decisions of participants, at the places of the turns that are
// kept.
func (x *Lenient) decisions(c *Conversation, list []json.RawMessage, kept []int, ids map[string]bool) {
	after := 0
	for i, raw := range list {
		var d Decision
		name := fmt.Sprintf("decisions[%d]", i)
		if !x.part(name, raw, &d) {
			continue
		}
		if err := d.check(after, len(kept)-1, ids); err != nil {
			x.Skipped++
			x.fault(fmt.Errorf("%s: %w", name, err))
			continue
		}
		after = d.Before
		d.Before = kept[d.Before]
		c.Decisions = append(c.Decisions, d)
	}
}

// addressees leaves out the addressees of a turn who are no participants.
func (x *Lenient) addressees(t *Turn, name string, ids map[string]bool) {
	var known []string
	for _, a := range t.Addressees {
		if ids[a] {
			known = append(known, a)
			continue
		}
		x.Changed++
		x.fault(fmt.Errorf("%s: addressee %q is not a participant", name, a))
	}
	t.Addressees = known
}
