package transcripts

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A story is a room as a reader of one level is told it: what Markdown and
// HTML are made of.
type story struct {
	Level  Level
	Spec   room.Spec
	Limits room.Limits // in force at the end
	Stats  *Stats
	Items  []item
	Hidden int // messages that this level does not show
	From   time.Time
	To     time.Time
}

// Kinds of items.
const (
	isMessage = "message" // said
	isDraft   = "draft"   // proposed, edited or rejected
	isDecline = "decline" // a round in which nobody spoke
	isTrouble = "trouble" // failed, interrupted, late, against the protocol
	isNote    = "note"    // what the room did
	isHidden  = "hidden"  // a message that is not for this reader
)

// An item is one entry of the timeline.
type item struct {
	Kind  string
	Seq   int64
	Clock time.Duration
	Turn  int
	Who   string // id
	To    string // id; "" for everybody
	Text  string // what was said
	Note  string // what happened, in a few words
	Cut   bool   // only the summary is shown
	Level room.Visibility
	Facts []fact   // what explains it
	Grant *granted // the decision that led to it
}

// A fact is a name with a value.
type fact struct{ Name, Value string }

// granted is why somebody has the floor.
type granted struct {
	Reason     string
	Policy     string // "" when a person chose
	Confidence string
	Scores     []fact
	Approval   []string // what people did with the draft
}

// tell makes the story of the room that entries are of.
func tell(entries iter.Seq2[log.Entry, error], level Level) (*story, error) {
	t := teller{counter: counter{at: map[string]int{}}, cut: redactor{level: level}, story: &story{Level: level}}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		t.counter.count(e)
		t.times(e.Event.At)
		t.event(e)
	}
	t.story.Spec, t.story.Limits = t.state.Spec, t.state.Limits
	t.story.Spec.Secret = "" // nobody needs it, at any level
	t.story.Stats = t.counter.finish()
	return t.story, nil
}

// A teller turns events into items.
type teller struct {
	counter
	cut   redactor
	story *story
	grant *granted
}

func (t *teller) times(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.story.From.IsZero() {
		t.story.From = at
	}
	t.story.To = at
}

func (t *teller) event(e log.Entry) {
	it := item{Seq: int64(e.Seq), Clock: e.Event.Clock, Who: e.Event.Actor}
	if e.Redacted && e.Event.Body == nil {
		it.Kind, it.Note = isNote, "redacted"
		t.add(it)
		return
	}
	shown := t.cut.event(e.Event)
	switch b := shown.Body.(type) {
	case room.MessagePosted:
		t.message(it, b, e)
	case room.TurnGranted:
		t.granted(b)
	case room.RoundDeclined:
		it.Kind, it.Note = isDecline, b.Reason
		it.Facts = decisionFacts(&b.Record)
		it.Who = b.Record.Policy
		t.add(it)
	default:
		if it.tell(shown.Body, t) {
			t.add(it)
		}
	}
}

func (t *teller) add(it item) { t.story.Items = append(t.story.Items, it) }

func (t *teller) message(it item, b room.MessagePosted, e log.Entry) {
	m := b.Message
	it.Kind, it.Who, it.Text, it.Turn, it.Level = isMessage, m.From, m.Text, b.Turn, m.Visibility
	if m.To != room.Broadcast {
		it.To = m.To
	}
	if _, seen := original(e).VisibleAt(t.story.Level.visibility()); !seen {
		it.Kind, it.Text = isHidden, ""
		t.story.Hidden++
	}
	it.Cut = it.Kind == isMessage && m.Visibility == room.UserRedacted && t.story.Level == UserVisible
	if e.Redacted {
		it.Note = "redacted"
	}
	if m.Kind != room.KindUtterance {
		it.fact("kind", m.Kind)
	}
	if m.By != "" {
		it.fact("typed by", m.By)
	}
	it.turn(t, b)
	t.add(it)
}

// original is the message before anything was withheld.
func original(e log.Entry) room.Message {
	b, _ := e.Event.Body.(room.MessagePosted)
	return b.Message
}

// turn adds what is known of the turn that the message ended.
func (it *item) turn(t *teller, b room.MessagePosted) {
	if b.Turn == 0 {
		return
	}
	it.Grant, t.grant = t.grant, nil
	if b.Auto {
		it.fact("sent", "without a review")
	}
	if b.Latency > 0 {
		it.fact("took", short(b.Latency))
	}
	if b.Usage.Known {
		it.fact("tokens", fmt.Sprintf("%d in, %d out", b.Usage.Input, b.Usage.Output))
	}
	if c := b.Message.Confidence; c != nil {
		it.fact("confidence", decimals(*c))
	}
}

func (it *item) fact(name, value string) { it.Facts = append(it.Facts, fact{name, value}) }

func (t *teller) granted(b room.TurnGranted) {
	g := &granted{Reason: b.Reason}
	if b.Confidence != nil {
		g.Confidence = decimals(*b.Confidence)
	}
	if b.Record != nil {
		g.Policy = b.Record.Policy
	}
	scores := slices.Clone(b.Scores)
	slices.SortStableFunc(scores, func(a, b policy.Score) int {
		if a.Score > b.Score {
			return -1
		} else if a.Score < b.Score {
			return 1
		}
		return 0
	})
	for _, s := range scores {
		g.Scores = append(g.Scores, fact{s.Agent, decimals(s.Score)})
	}
	t.grant = g
}

func decisionFacts(r *policy.Record) []fact {
	if r.Micros == 0 {
		return nil
	}
	return []fact{{"decided in", short(time.Duration(r.Micros) * time.Microsecond)}}
}

func decimals(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// short is a duration for people.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}
