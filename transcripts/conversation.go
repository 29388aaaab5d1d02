package transcripts

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
)

// A Conversation is a conversation in the neutral format: messages from
// elsewhere, without the events of a room.
type Conversation struct {
	ID           string        `json:"id"`
	Source       string        `json:"source,omitempty"` // origin, such as repository, commit and path
	License      string        `json:"license,omitempty"`
	Participants []Participant `json:"participants"`
	Turns        []Turn        `json:"turns"`
	Decisions    []Decision    `json:"decisions,omitempty"` // to speak or to be silent; in the order of Before
	Extra        policy.JSON   `json:"extra,omitempty"`
}

// A Participant takes part in a conversation. Turns and addressees refer to the
// ID, which is that of the source. Name is the display name, if it differs.
type Participant struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Kind string `json:"kind"` // KindAgent, KindHuman or KindTool
	Role string `json:"role,omitempty"`
}

// Kinds of participants in the neutral format.
const (
	KindAgent = "agent"
	KindHuman = "human"
	KindTool  = "tool"
)

// A Turn is one message of a conversation.
type Turn struct {
	I          int      `json:"i"` // index, from 0
	Speaker    string   `json:"speaker"`
	Text       string   `json:"text"`
	At         string   `json:"at,omitempty"`  // ISO time, when the source has a date
	Seconds    *float64 `json:"t_s,omitempty"` // seconds from the start; negative before it
	Channel    string   `json:"channel,omitempty"`
	Addressees []string `json:"addressees,omitempty"` // as stated by the source, never guessed

	// Usage is what the source states of the tokens of the turn. Of a message that is
	// several turns the output is shared out among them by the length of their texts.
	Usage room.Usage `json:"usage,omitzero"`

	// Of a message of a room that is no utterance: its kind, its id, and the id of what
	// it answers.
	Kind        string `json:"kind,omitempty"`
	MessageID   string `json:"message_id,omitempty"`
	Correlation string `json:"correlation_id,omitempty"`
}

// ChannelThought is the channel of internal reasoning.
const ChannelThought = "thought"

// Bounds of a conversation.
const (
	MaxParticipants = 4096
	MaxID           = 256     // bytes of a participant's id, and of its name
	MaxText         = 2 << 20 // bytes of a turn
	MaxMessageID    = 128     // bytes of the id of a message
	maxDepth        = 64      // of the JSON
)

// ReadConversations reads the neutral format, one conversation a line, plain or
// compressed with gzip. name is the name of the file in errors. The sequence
// ends after an error.
func ReadConversations(r io.Reader, name string) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		l, err := newLineReader(r, name)
		if err != nil {
			yield(nil, err)
			return
		}
		conversations(l)(yield)
	}
}

func conversations(l *lineReader) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		for {
			line, err := l.next()
			if errors.Is(err, io.EOF) {
				return
			}
			var c *Conversation
			if err == nil {
				if c, err = decodeConversation(line); err != nil {
					err = l.readError(err.Error(), nil)
				}
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func decodeConversation(line []byte) (*Conversation, error) {
	c := &Conversation{}
	if err := strict.Decode(line, maxDepth, c); err != nil {
		return nil, err
	}
	return c, c.check()
}

// check validates c.
func (c *Conversation) check() error {
	switch {
	case c.ID == "":
		return errors.New(`"id" is missing`)
	case len(c.Participants) == 0:
		return errors.New(`"participants" is missing or empty`)
	case len(c.Participants) > MaxParticipants:
		return fmt.Errorf("has %d participants, more than %d", len(c.Participants), MaxParticipants)
	case c.Turns == nil:
		return errors.New(`"turns" is missing`)
	}
	ids := make(map[string]bool, len(c.Participants))
	for i, p := range c.Participants {
		if err := p.check(ids); err != nil {
			return fmt.Errorf("participants[%d]: %w", i, err)
		}
		ids[p.ID] = true
	}
	for i := range c.Turns {
		if err := c.Turns[i].check(i, ids); err != nil {
			return fmt.Errorf("turns[%d]: %w", i, err)
		}
	}
	return c.checkDecisions(ids)
}

func (p Participant) check(ids map[string]bool) error {
	switch {
	case p.ID == "":
		return errors.New(`"id" is missing`)
	case len(p.ID) > MaxID:
		return fmt.Errorf("id is longer than %d bytes", MaxID)
	case len(p.Name) > MaxID:
		return fmt.Errorf("name is longer than %d bytes", MaxID)
	case ids[p.ID]:
		return fmt.Errorf("%q is listed twice", p.ID)
	case p.Kind != KindAgent && p.Kind != KindHuman && p.Kind != KindTool:
		return fmt.Errorf("kind %q is not agent, human or tool", p.Kind)
	}
	return nil
}

// ValidKind reports whether participants send messages of that kind. The room alone sends
// those of calls.
func ValidKind(kind string) bool {
	r, ok := kinds.Of(kind)
	return ok && r.From != kinds.Nobody && kind != kinds.Ack
}

func (t *Turn) check(i int, ids map[string]bool) error {
	switch {
	case t.I != i:
		return fmt.Errorf("i is %d", t.I)
	case !ids[t.Speaker]:
		return fmt.Errorf("speaker %q is not a participant", t.Speaker)
	case len(t.Text) > MaxText:
		return fmt.Errorf("text is longer than %d MiB", MaxText>>20)
	case t.Kind != "" && !ValidKind(t.Kind):
		return fmt.Errorf("kind %q is none that participants send", t.Kind)
	case len(t.MessageID) > MaxMessageID || len(t.Correlation) > MaxMessageID:
		return fmt.Errorf("message_id or correlation_id is longer than %d bytes", MaxMessageID)
	case t.Seconds != nil && math.Abs(*t.Seconds) > MaxSeconds:
		return fmt.Errorf("t_s %g is out of range", *t.Seconds)
	}
	if _, err := t.wallTime(); err != nil {
		return err
	}
	if name := t.Usage.OutOfRange(); name != "" {
		return fmt.Errorf("%s of the usage is out of range", name)
	}
	for _, a := range t.Addressees {
		if !ids[a] {
			return fmt.Errorf("addressee %q is not a participant", a)
		}
	}
	return nil
}

// MaxSeconds bounds the seconds of a turn or a decision: a century. A larger clock is a mistake.
const MaxSeconds = 100 * 366 * 24 * 3600

// wallTime returns the date and time in UTC, the zero Time if there is none.
func (t *Turn) wallTime() (time.Time, error) {
	if t.At == "" {
		return time.Time{}, nil
	}
	layout := "2006-01-02T15:04:05"
	switch _, clock, _ := strings.Cut(t.At, "T"); {
	case strings.ContainsAny(clock, "Z+-"):
		layout = time.RFC3339Nano
	case strings.Count(clock, ":") == 1:
		layout = "2006-01-02T15:04"
	}
	if at, err := time.Parse(layout, t.At); err == nil && at.Year() > 0 {
		return at.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("at %q is not an ISO time", t.At)
}
