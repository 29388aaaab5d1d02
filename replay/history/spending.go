package history

import (
	"time"

	"github.com/folkmoot/moot/room"
)

// A Spending is what the recorded turns of a seat took.
type Spending struct {
	Turns   int           // that ended with a message, a pass or a failure
	Stated  int           // of them, with a usage that the agent stated
	Output  int64         // tokens of the replies: as stated, otherwise bytes/4
	Timed   int           // turns with a recorded latency
	Latency time.Duration // of these
}

// Spending returns what the recorded turns took, by seat. It is complete after a
// walk, and may be shorter than Seats.
func (h *History) Spending() []Spending { return h.spending }

// addSpending counts a turn that e ends.
func (h *History) addSpending(e *room.Event) {
	switch b := e.Body.(type) {
	case room.TurnGranted:
		h.granted = b.Participant
	case room.MessagePosted:
		if b.Turn > 0 {
			usage := b.Usage
			if h.conversation {
				usage = h.stated // the events of a conversation hold none, because policies would see it
			}
			h.addTurn(b.Message.From, usage, b.Latency, b.Message.Text)
		}
	case room.TurnPassed:
		h.addTurn(h.granted, b.Usage, b.Latency, "")
	case room.TurnFailed:
		h.addTurn(h.granted, b.Usage, b.Latency, "")
	}
}

func (h *History) addTurn(id string, u room.Usage, latency time.Duration, text string) {
	seat, ok := h.index[id]
	if !ok {
		return
	}
	for len(h.spending) <= seat {
		h.spending = append(h.spending, Spending{})
	}
	s := &h.spending[seat]
	s.Turns++
	if u.Known && u.OutOfRange() == "" {
		s.Stated++
		s.Output += u.Output
	} else {
		s.Output += int64(len(text)+3) / 4
	}
	if latency > 0 {
		s.Timed++
		s.Latency += latency
	}
}
