package timeline

import "github.com/folkmoot/moot/room"

// Recall tells the printer what had happened before the first event that it
// is given: for a room that is opened again.
func (p *Printer) Recall(s *room.State) {
	p.name = policyName(s.Policy.Ref)
	for _, x := range s.Seats {
		p.join(x.Participant)
	}
	if t := s.Turn; t != nil {
		p.turn = granted{number: t.Number, who: t.Participant, tokens: t.Tokens}
		if t.Draft != nil {
			p.turn.usage = t.Draft.Usage
		}
	}
}
