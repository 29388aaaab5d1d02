package foreign

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/transcripts"
)

// A talk collects what a source says into a conversation.
type talk struct {
	name      string // of the file, for errors
	c         transcripts.Conversation
	report    Report
	people    map[string]int  // place in c.Participants
	presumed  map[string]bool // to be agents, for nothing was said of them
	objective string
	last      string          // id of the message that the last turn is of
	joined    strings.Builder // text of the last turn, once something was joined to it
	seatless  bool            // tools have no seats: in this source somebody runs them who has a name
}

// newTalk starts a conversation. id is the source's own for it; without one
// it is called after the file.
func newTalk(file string, f Format, id string) *talk {
	t := &talk{name: file, people: map[string]int{}, presumed: map[string]bool{}}
	t.report.Format = f
	t.c.Source = clean(filepath.Base(file))
	t.c.ID = clean(id)
	if t.c.ID == "" {
		t.c.ID = stem(file)
	}
	return t
}

// stem is a file's name without folder and endings.
func stem(file string) string {
	s := clean(filepath.Base(file))
	if i := strings.IndexByte(s, '.'); i > 0 {
		s = s[:i]
	}
	return s
}

// presume seats somebody of whom the source says nothing but the id.
func (t *talk) presume(id string) string {
	if id = t.short(clean(id)); id == "" || t.has(id) {
		return id
	}
	if len(t.people) > transcripts.MaxParticipants { // which finish refuses
		return ""
	}
	t.seat(id, "", transcripts.KindAgent, "")
	t.presumed[id] = true
	return id
}

func (t *talk) has(id string) bool { _, ok := t.people[id]; return ok }

// A piece is something that was said.
type piece struct {
	speaker string
	text    string
	to      []string
	channel string
	at      time.Time // zero when the source has no date
	seconds *float64
	id      string // pieces in a row with the same id, speaker and channel are one turn
}

// Channels of turns that are no ordinary talk.
const (
	thought = transcripts.ChannelThought
	tool    = "tool" // the call of a tool, and what it answers
)

// seat makes id a participant, unless it is one. What is said of it later
// fills in what was not known.
func (t *talk) seat(id, name, kind, role string) string {
	id = t.short(clean(id))
	if id == "" {
		return ""
	}
	name, role = clean(name), clean(role)
	if name == id {
		name = ""
	}
	if i, ok := t.people[id]; ok {
		p := &t.c.Participants[i]
		if p.Name == "" {
			p.Name = cut(name, transcripts.MaxID)
		}
		if p.Role == "" {
			p.Role = role
		}
		if t.presumed[id] {
			p.Kind = kind
			delete(t.presumed, id)
		}
		return id
	}
	t.people[id] = len(t.c.Participants)
	t.c.Participants = append(t.c.Participants, transcripts.Participant{ID: id, Name: cut(name, transcripts.MaxID), Kind: kind, Role: role})
	return id
}

// say adds a turn, or joins p to the one before. Speaker and addressees that
// have no seat get one, as agents.
func (t *talk) say(p piece) {
	t.report.Pieces++
	p.speaker = t.presume(p.speaker)
	to := t.addressees(p)
	if t.joins(p) {
		t.join(p.text, to)
		return
	}
	t.flush()
	turn := transcripts.Turn{
		I: len(t.c.Turns), Speaker: p.speaker, Text: t.bounded(p.text), Channel: p.channel, Addressees: to, Seconds: p.seconds,
	}
	if year := p.at.UTC().Year(); !p.at.IsZero() && year > 0 && year < 10000 {
		turn.At = p.at.UTC().Format(time.RFC3339Nano)
	}
	t.c.Turns = append(t.c.Turns, turn)
	t.last = p.id
	t.report.Turns++
}

// addressees seats those to whom p is said, each once and not the speaker.
func (t *talk) addressees(p piece) []string {
	var to []string
	seen := map[string]bool{p.speaker: true, "": true}
	for _, id := range p.to {
		if id = t.presume(id); !seen[id] {
			seen[id] = true
			to = append(to, id)
		}
	}
	return to
}

// join adds a piece to the last turn.
func (t *talk) join(text string, to []string) {
	last := &t.c.Turns[len(t.c.Turns)-1]
	if t.joined.Len() == 0 {
		t.joined.WriteString(last.Text)
	}
	if t.joined.Len() <= transcripts.MaxText {
		t.joined.WriteString("\n" + text)
	} else {
		t.change("in a message over its bound, dropped")
	}
	for _, id := range to {
		if !slices.Contains(last.Addressees, id) {
			last.Addressees = append(last.Addressees, id)
		}
	}
	t.report.Joined++
}

// flush ends the last turn.
func (t *talk) flush() {
	if t.joined.Len() > 0 {
		t.c.Turns[len(t.c.Turns)-1].Text = t.bounded(t.joined.String())
		t.joined.Reset()
	}
}

func (t *talk) joins(p piece) bool {
	n := len(t.c.Turns)
	return n > 0 && p.id != "" && p.id == t.last && t.c.Turns[n-1].Speaker == p.speaker && t.c.Turns[n-1].Channel == p.channel
}

// leave counts a piece that is no turn.
func (t *talk) leave(why string) {
	t.report.Pieces++
	t.report.Left = add(t.report.Left, why)
}

// change counts a piece that is taken, but not as it was.
func (t *talk) change(why string) { t.report.Changed = add(t.report.Changed, why) }

// bounded cuts a text that is too long for the neutral form.
func (t *talk) bounded(s string) string {
	if len(s) > transcripts.MaxText {
		t.change(fmt.Sprintf("cut to %d MiB", transcripts.MaxText>>20))
		return cut(s, transcripts.MaxText)
	}
	return s
}

// short keeps an id that is too long apart from others with the same start.
func (t *talk) short(id string) string {
	if len(id) <= transcripts.MaxID {
		return id
	}
	t.change(fmt.Sprintf("id over %d bytes, shortened", transcripts.MaxID))
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%s~%x", cut(id, 200), sum[:8])
}

// cut returns at most n bytes of s, whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clean takes from an id or a name what is neither.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}

// finish returns the conversation; nil when nothing is said in it.
func (t *talk) finish() (*Conversation, error) {
	t.flush()
	if n := len(t.c.Participants); n > transcripts.MaxParticipants {
		return nil, oversized(t.name, fmt.Sprintf("it has %d participants, more than %d", n, transcripts.MaxParticipants))
	}
	if len(t.c.Turns) == 0 {
		return nil, nil
	}
	t.c.ID = cut(t.c.ID, 2*transcripts.MaxID)
	extra, err := json.Marshal(struct {
		Objective string `json:"objective,omitempty"`
		Import    Report `json:"import"`
	}{cut(t.objective, 64<<10), t.report})
	t.c.Extra = extra
	return &Conversation{&t.c, t.report}, err
}
