package history

import (
	"cmp"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/names"
)

// A Point is a decision point: the state of a room before a decision. One
// Point moves through the whole history, so nothing of it may be kept after
// the visit.
type Point struct {
	History    *History
	N          int           // number of the decision point, from 1
	State      *room.State   // the fold of all events before; read only
	At         time.Duration // room clock at which the policy is asked
	Candidates []int         // seats that may be chosen; of a recorded decision also those that could not
	Last       int           // seat that spoke last; -1 for none of the seats
	LastSpoke  []int         // by seat: sequence number of its last message, 0 for none
	Addressed  []int         // seats that the last message addresses
	Mixed      bool          // silence is a meaningful choice, see [History.Mixed]

	// Truth is the recorded choice, and Event the event that holds it. Both
	// mean nothing when Simulated is set.
	Truth     Choice
	Asked     int // the only seat that could speak, of a recorded decision of its own; -1 at other points
	Event     *room.Event
	Simulated bool

	// OnMessage, when set, is called after each message has been applied.
	OnMessage func(*Point, *room.Message)

	texts         recentTexts
	excerpts      excerpts
	sums          windowSums
	tokens        []int32 // by seat: cached Tokens plus one; 0 when not cached
	publicTokens  int64   // of all public messages
	privateTokens []int64 // by seat: of the other messages that it may read
	scratch       room.State
	whole         bool // State keeps all messages
	err           error
}

// NewPoint returns the point before the first event of h. It keeps maxText
// bytes of each message for the inputs of policies; 0 keeps whole texts.
func NewPoint(h *History, maxText int) *Point {
	p := &Point{History: h, State: &room.State{}, Last: -1, Asked: -1, texts: recentTexts{maxBytes: maxText}}
	if m := h.merger; m != nil {
		n := min(m.merged, policy.MaxEvents)
		p.texts.ring, p.sums.whole, p.sums.lines = make([]recentText, 0, n), make([]int64, 0, n), make([]int64, 0, n)
	}
	return p
}

// Walk folds the history and visits its decision points in order. maxText is
// that of [NewPoint]. onMessage may be nil. It ends with the first error of the
// transcript or of visit.
func (h *History) Walk(maxText int, onMessage func(*Point, *room.Message), visit func(*Point) error) error {
	p := NewPoint(h, maxText)
	p.OnMessage, p.Mixed = onMessage, h.Mixed()
	var e room.Event // declared once: p.Event points to it
	var err error
	for e, err = range h.Events() {
		if err != nil {
			return err
		}
		if p.decidedBy(&e) {
			p.Open()
			if err := cmp.Or(visit(p), p.err); err != nil {
				return err
			}
		}
		p.Apply(&e)
		h.addSpending(&e)
	}
	h.setCompleted(p.State)
	return nil
}

// Apply folds e into the state.
func (p *Point) Apply(e *room.Event) {
	p.State.Apply(*e)
	p.dropOldMessages()
	if b, ok := e.Body.(room.Joined); ok {
		p.History.join(b.Participant)
		if m := p.History.merger; m != nil && !p.Simulated && len(p.State.Seats) == len(m.participants) {
			p.State.UseNames(m.names())
		}
	}
	if b, ok := e.Body.(room.BidPosted); ok && b.Failed == "" && !p.Simulated {
		p.History.Bids++
	}
	p.texts.add(e)
	if b, ok := e.Body.(room.MessagePosted); ok {
		p.addMessage(&b.Message, e.Seq)
	}
}

// Text is a [room.TextFunc] for the newest messages.
func (p *Point) Text(seq int64) (string, error) { return p.texts.text(seq) }

// Names returns the matcher of the participants' names in a recorded
// conversation, nil otherwise.
func (p *Point) Names() *names.Matcher {
	if p.History.merger == nil || p.Simulated {
		return nil
	}
	return p.History.merger.names()
}

// decidedBy reports whether e holds the result of a decision, and if so sets
// the truth.
func (p *Point) decidedBy(e *room.Event) bool {
	record := room.RecordOf(*e)
	p.Event, p.At, p.Asked = e, e.Clock, -1
	if record != nil {
		p.At = time.Duration(record.AskedAtMS) * time.Millisecond
	}
	switch b := e.Body.(type) {
	case room.TurnGranted:
		seat, ok := p.History.index[b.Participant]
		p.Truth = Choice(seat)
		return ok && (record != nil || p.History.conversation && p.Last >= 0)
	case room.RoundDeclined:
		p.Truth = Declined
		return record != nil || p.History.conversation && (len(b.Silent) == 0 || p.askedAlone(b.Silent[0]))
	case spoke:
		ok := p.askedAlone(b.Agent)
		p.Truth = Choice(p.Asked)
		return ok
	case room.Completed:
		p.Truth = Finished
		return record != nil
	}
	return false
}

// askedAlone sets the participant of a recorded decision.
func (p *Point) askedAlone(id string) bool {
	seat, ok := p.History.index[id]
	if ok {
		p.Asked = seat
	}
	return ok
}

// Open begins the next decision: it counts it and determines the candidates.
// In a recorded conversation these are all seats but the last speaker.
func (p *Point) Open() {
	p.N++
	p.Candidates = p.Candidates[:0]
	for i, s := range p.State.Seats {
		if p.recordedConversation() && (i != p.Last || i == p.Asked) || !p.recordedConversation() && p.State.Ineligible(s) == "" {
			p.Candidates = append(p.Candidates, i)
		}
	}
	p.growLastSpoke()
	if len(p.tokens) < len(p.History.Seats) {
		p.tokens = make([]int32, len(p.History.Seats))
	} else {
		clear(p.tokens)
	}
}

func (p *Point) recordedConversation() bool { return p.History.conversation && !p.Simulated }

func (p *Point) growLastSpoke() {
	for len(p.LastSpoke) < len(p.History.Seats) {
		p.LastSpoke = append(p.LastSpoke, 0)
	}
}

// addMessage notes the speaker and the addressees of m.
func (p *Point) addMessage(m *room.Message, seq int64) {
	h := p.History
	p.growLastSpoke()
	p.addTokens(m)
	p.excerpts.add(m)
	p.Last = -1
	if seat, ok := h.index[m.From]; ok {
		p.Last = seat
		p.LastSpoke[seat] = int(seq)
	}
	p.Addressed = p.Addressed[:0]
	if seat, ok := h.index[m.To]; ok {
		p.Addressed = append(p.Addressed, seat)
	}
	for _, id := range m.Addressed {
		if seat, ok := h.index[id]; ok {
			p.Addressed = append(p.Addressed, seat)
		}
	}
	if p.OnMessage != nil {
		p.OnMessage(p, m)
	}
}

// addTokens adds m to the totals of the seats that may read it.
func (p *Point) addTokens(m *room.Message) {
	tokens := int64(len(m.Text)+3) / 4
	audience := room.Audience(*m)
	if audience.All() {
		p.publicTokens += tokens
		if p.recordedConversation() {
			p.sums.add(tokens)
		}
		return
	}
	for i, s := range p.History.Seats {
		for len(p.privateTokens) <= i {
			p.privateTokens = append(p.privateTokens, 0)
		}
		if audience.Includes(s.ID) {
			p.privateTokens[i] += tokens
		}
	}
}

// The state of a room grows slowly with each message. A walk keeps the newest
// only, which is as far back as windows of usual bounds reach. When a window
// reaches further back, keepAll reads the log again, once.
const (
	keptMessages = 8192
	dropEvery    = 512
)

func (p *Point) dropOldMessages() {
	if n := p.State.Tally.Messages; n > keptMessages && n%dropEvery == 0 && !p.whole && !p.Simulated {
		p.State.Shorten(keptMessages)
	}
}
