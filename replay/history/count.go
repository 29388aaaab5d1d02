package history

import "github.com/folkmoot/moot/room"

// Points counts the decision points of t. It reads the events of a room once.
func Points(t Transcript) (int, error) {
	h, err := Open(t)
	if err != nil || h == nil {
		return 0, err
	}
	n := 0
	switch {
	case h.merger != nil && h.merger.silences.any():
		err := h.Walk(1, nil, func(*Point) error { n++; return nil })
		return n, err
	case h.merger != nil:
		return h.merger.merged - 1, nil
	}
	for e, err := range h.Events() {
		if err != nil {
			return 0, err
		}
		switch e.Body.(type) {
		case room.RoundDeclined:
			n++
		case room.TurnGranted, room.Completed:
			if room.RecordOf(e) != nil {
				n++
			}
		}
	}
	return n, nil
}

// Place is how far p is in its transcript: its number in a conversation, that of its
// event in a room of moot.
func (p *Point) Place() int {
	if p.History.conversation {
		return p.N
	}
	return int(p.Event.Seq)
}

// Size is what [Point.Place] reaches at the end of t; 0 when it is not known.
func (t Transcript) Size() (int, error) {
	switch {
	case t.Conversation != nil:
		return Points(t)
	case t.Room != nil:
		return len(t.Room), nil
	}
	return t.Length, nil
}
