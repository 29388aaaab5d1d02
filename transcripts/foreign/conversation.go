package foreign

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/transcripts"
)

// A builder builds a conversation from the pieces of a source.
type builder struct {
	name            string // of the file, for errors
	c               transcripts.Conversation
	report          Report
	index           map[string]int  // place in c.Participants
	presumed        map[string]bool // agents only by presumption: the source has not described them yet
	objective       string
	lastID          string          // id of the message that the last turn is of
	joinedText      strings.Builder // text of the last turn, once a piece was joined to it
	toolsHaveNoSeat bool            // in this source a named participant runs the tools
	strict          bool            // an error in a piece ends the import
	stated          []stated        // usage of messages
	statedOf        map[string]int  // place in stated, by the id of the message
}

// newBuilder starts a conversation. id is the id in the source; without one the
// conversation gets the name of the file. The first conversation counts the faults of
// the file.
func (in *input) newBuilder(f Format, id string) *builder {
	t := &builder{name: in.name, index: map[string]int{}, presumed: map[string]bool{}, strict: in.strict}
	t.report.Format = f
	t.c.Source = clean(filepath.Base(in.name))
	t.c.ID = cmp.Or(clean(id), stem(in.name))
	for range in.faults.n {
		t.leaveOut(faulty)
	}
	t.report.Faults, in.faults = in.faults.named, faults{}
	return t
}

// stem returns the name of a file without its folder and extensions.
func stem(file string) string {
	s := clean(filepath.Base(file))
	if i := strings.IndexByte(s, '.'); i > 0 {
		s = s[:i]
	}
	return s
}

// presumeAgent adds a participant of which only the id is known, as an agent.
func (t *builder) presumeAgent(id string) string {
	if id = t.shortID(clean(id)); id == "" || t.has(id) {
		return id
	}
	if len(t.index) > transcripts.MaxParticipants { // which finish refuses
		return ""
	}
	t.participant(id, "", transcripts.KindAgent, "")
	t.presumed[id] = true
	return id
}

func (t *builder) has(id string) bool { _, ok := t.index[id]; return ok }

// A piece is the smallest part of a source that can be a turn.
type piece struct {
	speaker string
	text    string
	to      []string
	channel string
	at      time.Time // zero when the source has no date
	seconds *float64
	sent    sent
	id      string // pieces in a row with the same id, speaker and channel are one turn
}

// sent is what a message of a room has besides its text; zero for an utterance.
type sent struct{ kind, id, correlation string }

// Channels of turns other than normal messages.
const (
	channelThought = transcripts.ChannelThought
	channelTool    = "tool" // calls of tools and their results
)

// participant adds a participant, or fills in missing fields of an existing one.
// It returns the id, cleaned and shortened.
func (t *builder) participant(id, name, kind, role string) string {
	id = t.shortID(clean(id))
	if id == "" {
		return ""
	}
	name, role = clean(name), clean(role)
	if name == id {
		name = ""
	}
	if i, ok := t.index[id]; ok {
		p := &t.c.Participants[i]
		p.Name = cmp.Or(p.Name, truncate(name, transcripts.MaxID))
		p.Role = cmp.Or(p.Role, role)
		if t.presumed[id] {
			p.Kind = kind
			delete(t.presumed, id)
		}
		return id
	}
	t.index[id] = len(t.c.Participants)
	t.c.Participants = append(t.c.Participants, transcripts.Participant{ID: id, Name: truncate(name, transcripts.MaxID), Kind: kind, Role: role})
	return id
}

// addTurn adds a turn, or joins p to the turn before. Unknown speakers and
// addressees become agents.
func (t *builder) addTurn(p piece) {
	if clean(p.speaker) == "" {
		t.leaveOut("message without a speaker")
		return
	}
	t.report.Pieces++
	p.speaker = t.presumeAgent(p.speaker)
	to := t.addressees(p)
	if t.joins(p) {
		t.join(p.text, to)
		return
	}
	t.flush()
	if p.seconds != nil && math.Abs(*p.seconds) > transcripts.MaxSeconds {
		t.countChange("clock beyond a century, dropped")
		p.seconds = nil
	}
	turn := transcripts.Turn{
		I: len(t.c.Turns), Speaker: p.speaker, Text: t.bounded(p.text), Channel: p.channel, Addressees: to, Seconds: p.seconds,
		Kind: p.sent.kind, MessageID: p.sent.id, Correlation: p.sent.correlation,
	}
	if year := p.at.UTC().Year(); !p.at.IsZero() && year > 0 && year < 10000 {
		turn.At = p.at.UTC().Format(time.RFC3339Nano)
	}
	t.c.Turns = append(t.c.Turns, turn)
	t.lastID = p.id
	t.report.Turns++
}

// decline adds the decision of a participant not to speak; an empty id stands for all.
func (t *builder) decline(id string, seconds *float64) {
	if len(t.c.Decisions) == transcripts.MaxDecisions {
		t.countChange("decision beyond the limit of a conversation, dropped")
		return
	}
	t.c.Decisions = append(t.c.Decisions, transcripts.Decision{Before: len(t.c.Turns), Agent: id, Decision: transcripts.Declines, Seconds: seconds})
	t.report.Silences++
}

// addText adds a turn, or leaves out a piece without a text for the reason
// textless.
func (t *builder) addText(p piece, textless string) {
	if strings.TrimSpace(p.text) == "" {
		t.leaveOut(textless)
		return
	}
	t.addTurn(p)
}

// addressees returns the addressees of p, each once and without the speaker.
func (t *builder) addressees(p piece) []string {
	var to []string
	seen := map[string]bool{p.speaker: true, "": true}
	for _, id := range p.to {
		if id = t.presumeAgent(id); !seen[id] {
			seen[id] = true
			to = append(to, id)
		}
	}
	return to
}

// join adds a piece to the last turn.
func (t *builder) join(text string, to []string) {
	last := &t.c.Turns[len(t.c.Turns)-1]
	if t.joinedText.Len() == 0 {
		t.joinedText.WriteString(last.Text)
	}
	if t.joinedText.Len() <= transcripts.MaxText {
		t.joinedText.WriteString("\n" + text)
	} else {
		t.countChange("part beyond the size limit of a message, dropped")
	}
	for _, id := range to {
		if !slices.Contains(last.Addressees, id) {
			last.Addressees = append(last.Addressees, id)
		}
	}
	t.report.Joined++
}

// flush ends the last turn.
func (t *builder) flush() {
	if t.joinedText.Len() > 0 {
		t.c.Turns[len(t.c.Turns)-1].Text = t.bounded(t.joinedText.String())
		t.joinedText.Reset()
	}
}

func (t *builder) joins(p piece) bool {
	n := len(t.c.Turns)
	return n > 0 && p.id != "" && p.id == t.lastID && t.c.Turns[n-1].Speaker == p.speaker && t.c.Turns[n-1].Channel == p.channel
}

// leaveOut counts a piece that does not become a turn.
func (t *builder) leaveOut(why string) {
	t.report.Pieces++
	t.report.Left = add(t.report.Left, why)
}

// countChange counts a piece that was changed.
func (t *builder) countChange(why string) { t.report.Changed = add(t.report.Changed, why) }

// bounded truncates a text that is too long for the neutral format.
func (t *builder) bounded(s string) string {
	if len(s) > transcripts.MaxText {
		t.countChange(fmt.Sprintf("cut to %d MiB", transcripts.MaxText>>20))
		return truncate(s, transcripts.MaxText)
	}
	return s
}

// shortID shortens an id that is too long. A hash keeps it distinct from others
// with the same start.
func (t *builder) shortID(id string) string {
	if len(id) <= transcripts.MaxID {
		return id
	}
	t.countChange(fmt.Sprintf("id over %d bytes, shortened", transcripts.MaxID))
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%s~%x", truncate(id, 200), sum[:8])
}

// truncate returns at most n bytes of s, without splitting a character.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clean removes control characters and surrounding white space from an id or a
// name.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}

// finish returns the conversation, nil without turns.
func (t *builder) finish() (*Conversation, error) {
	t.flush()
	t.shareUsage()
	if n := len(t.c.Participants); n > transcripts.MaxParticipants {
		return nil, sizeError(t.name, fmt.Sprintf("it has %d participants, more than %d", n, transcripts.MaxParticipants))
	}
	if len(t.c.Turns) == 0 {
		return nil, nil
	}
	t.c.ID = truncate(t.c.ID, 2*transcripts.MaxID)
	extra, err := json.Marshal(struct {
		Objective string `json:"objective,omitempty"`
		Import    Report `json:"import"`
	}{truncate(t.objective, 64<<10), t.report})
	t.c.Extra = extra
	return &Conversation{&t.c, t.report}, err
}

// done finishes t after its reader returned err. Without turns the result has
// only a report.
func (t *builder) done(err error) (*Conversation, error) {
	if err != nil {
		return nil, err
	}
	c, err := t.finish()
	if err == nil && c == nil {
		c = &Conversation{Report: t.report}
	}
	return c, err
}

// A Conversation is an imported conversation and the report of its import.
type Conversation struct {
	*transcripts.Conversation
	Report Report
}

// A Report accounts for every piece of a source. A piece is the smallest part
// that could be a turn: a message, or one block of it where a format has blocks.
// Pieces is Turns + Joined + all of Left.
type Report struct {
	Format   Format  `json:"format"`
	Pieces   int     `json:"pieces"`
	Turns    int     `json:"turns"`
	Joined   int     `json:"joined"`             // to the turn before, as parts of one message
	Left     []Count `json:"left_out,omitempty"` // in the order of their first appearance
	Silences int     `json:"silences,omitempty"` // decisions not to speak, which are no pieces
	Changed  []Count `json:"changed,omitempty"`  // became turns, but not unchanged
	Order    string  `json:"order,omitempty"`    // how turns were ordered, for formats without an order
	Faults   []Fault `json:"faults,omitempty"`   // the first of those that were left out because they break their format
}

// A Count is the number of pieces with the same reason.
type Count struct {
	Why string `json:"why"`
	N   int    `json:"n"`
}

// LeftOut returns how many pieces were left out.
func (r Report) LeftOut() int {
	n := 0
	for _, c := range r.Left {
		n += c.N
	}
	return n
}

// maxReasons bounds the number of distinct reasons, because some quote the file.
const maxReasons = 64

// add increments the count of why.
func add(counts []Count, why string) []Count {
	if len(counts) >= maxReasons && !slices.ContainsFunc(counts, func(c Count) bool { return c.Why == why }) {
		why = "for one of many other reasons"
	}
	for i := range counts {
		if counts[i].Why == why {
			counts[i].N++
			return counts
		}
	}
	return append(counts, Count{why, 1})
}

// lines yields the lines of a text without their line ends, numbered from 1.
// Invalid UTF-8 is replaced by U+FFFD and counted.
func (t *builder) lines(raw []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			n++
			line = bytes.TrimSuffix(line, []byte("\r"))
			s := string(line)
			if !utf8.Valid(line) {
				t.countChange("line with invalid UTF-8, replaced")
				s = strings.ToValidUTF8(s, "\uFFFD")
			}
			if !yield(n, s) {
				return
			}
		}
	}
}
