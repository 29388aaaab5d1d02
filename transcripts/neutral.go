package transcripts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// WriteNeutral writes a room as a line of the neutral format, see [ConversationOf].
func WriteNeutral(w io.Writer, entries iter.Seq2[log.Entry, error], level Level) error {
	c, err := ConversationOf(entries, level)
	if err != nil {
		return err
	}
	return c.Write(w)
}

// Write writes the conversation as a line of the neutral format.
func (c *Conversation) Write(w io.Writer) error {
	if err := c.check(); err != nil {
		return tooMuch(c.ID, err.Error())
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("writing the neutral format: %w", err)
	}
	if line.Len() > MaxLine {
		return tooMuch(c.ID, fmt.Sprintf("is longer than %d MiB", MaxLine>>20))
	}
	if bytes.Contains(line.Bytes(), []byte(`\ufffd`)) { // for bytes that are no UTF-8: a text may be too long now
		if _, err := decodeConversation(line.Bytes()); err != nil {
			return tooMuch(c.ID, err.Error())
		}
	}
	if _, err := w.Write(line.Bytes()); err != nil {
		return fmt.Errorf("writing the neutral format: %w", err)
	}
	return nil
}

// At returns the conversation as readers at level see it: below internal, thoughts have no
// text.
func (c *Conversation) At(level Level) *Conversation {
	if level == All || level == Internal {
		return c
	}
	seen := *c
	seen.Turns = slices.Clone(c.Turns)
	for i := range seen.Turns {
		if t := &seen.Turns[i]; t.Channel == ChannelThought {
			t.Text = ""
		}
	}
	return &seen
}

func tooMuch(room, what string) error {
	return &problem.Error{
		Code: "TRANSCRIPT-CONVERSATION", What: "the transcript cannot be a line of the neutral format: " + what, Where: room,
		Fix: "export it with -o jsonl, which has no such limit",
	}
}

// ConversationOf returns the conversation in a room, as readers at level see it. Passed
// turns and declined rounds are its decisions. A message that the readers do not see is a
// turn without a text. The extra has the objective and, of a room that has ended, whether
// it was completed without being degraded. The reasons of the policy, the usage of passed
// turns and redacted messages are left out.
func ConversationOf(entries iter.Seq2[log.Entry, error], level Level) (*Conversation, error) {
	b := neutralBuilder{known: map[string]bool{}}
	for s, err := range b.records(b.fold(entries), level) {
		if err != nil {
			return nil, err
		}
		b.record(&s)
	}
	return b.conversation()
}

// A neutralBuilder converts records to a conversation.
type neutralBuilder struct {
	recordReader
	c     Conversation
	known map[string]bool // ids of participants
	state room.State
}

// fold applies the events to the state, and notes the participants.
func (b *neutralBuilder) fold(entries iter.Seq2[log.Entry, error]) iter.Seq2[log.Entry, error] {
	return func(yield func(log.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				b.state.Apply(e.Event)
			}
			if j, ok := e.Event.Body.(room.Joined); ok {
				b.join(j.Participant)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (b *neutralBuilder) join(p room.Participant) {
	if p.ID == "" || b.known[p.ID] {
		return
	}
	b.known[p.ID] = true
	n := Participant{ID: p.ID, Name: p.Name, Kind: kindOf(p), Role: p.Role}
	if n.Kind == KindTool {
		n.Role = "" // the kind says it
	}
	b.c.Participants = append(b.c.Participants, n)
}

func (b *neutralBuilder) record(s *record) {
	clock := s.clock.Seconds()
	switch {
	case s.isSilence():
		for _, id := range s.silent() {
			b.c.Decisions = append(b.c.Decisions, Decision{Before: len(b.c.Turns), Agent: id, Decision: Declines, Seconds: &clock})
		}
	case s.message.From != "":
		b.join(s.sender) // the host, say
		b.c.Turns = append(b.c.Turns, b.turn(s, &clock))
	}
}

func (b *neutralBuilder) turn(s *record, clock *float64) Turn {
	m := s.message
	t := Turn{I: len(b.c.Turns), Speaker: m.From, Text: m.Text, Seconds: clock, Addressees: s.receivers(), Usage: s.posted.Usage}
	if year := s.at.UTC().Year(); !s.at.IsZero() && year > 0 && year < 10000 {
		t.At = s.at.UTC().Format(time.RFC3339Nano)
	}
	if m.Visibility == room.Internal {
		t.Channel = ChannelThought
	}
	seen := s.shown == shownWhole || s.shown == shownSummary
	if seen && m.Kind != room.KindUtterance && ValidKind(m.Kind) {
		t.Kind, t.MessageID, t.Correlation = m.Kind, m.ID, cmp.Or(m.Correlation, m.Parent)
	}
	return t
}

// conversation returns what was read.
func (b *neutralBuilder) conversation() (*Conversation, error) {
	b.c.ID = b.spec.Room
	unknown := func(id string) bool { return id != "" && !b.known[id] }
	for i := range b.c.Turns {
		t := &b.c.Turns[i]
		if t.Addressees = slices.DeleteFunc(t.Addressees, unknown); len(t.Addressees) == 0 {
			t.Addressees = nil
		}
	}
	b.c.Decisions = slices.DeleteFunc(b.c.Decisions, func(d Decision) bool { return unknown(d.Agent) })
	extra := struct {
		Objective string `json:"objective,omitempty"`
		Completed *bool  `json:"completed,omitempty"`
	}{Objective: b.spec.Objective}
	if s := &b.state; s.Phase != room.PhaseLive && s.Phase != room.PhasePaused && s.Phase != "" {
		completed := s.Phase == room.PhaseCompleted && !s.Ending.Degraded
		extra.Completed = &completed
	}
	text, err := json.Marshal(extra)
	if string(text) != "{}" {
		b.c.Extra = text
	}
	return &b.c, err
}
