package timeline

import "github.com/folkmoot/moot/room"

// Recall tells the printer what had happened before the first event that it
// is given, for a room that is opened again, and returns the lines that a
// person needs to go on: what the room is for, who is in it, and the draft
// that waits.
func (p *Printer) Recall(s *room.State) string {
	p.name = policyName(s.Policy.Ref)
	for _, x := range s.Seats {
		p.join(x.Participant)
	}
	spec := s.Spec
	spec.Limits = s.Limits
	out := p.title(spec)
	t := s.Turn
	if t == nil {
		return out
	}
	p.turn = granted{number: t.Number, who: t.Participant, tokens: t.Tokens}
	if d := t.Draft; d != nil {
		out += p.drafted(room.TurnDrafted{Turn: t.Number, Draft: d.Hash, Message: d.Message, Usage: d.Usage, Latency: d.Latency, Why: d.Why})
	}
	return out
}
