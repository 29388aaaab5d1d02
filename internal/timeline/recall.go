package timeline

import "github.com/folkmoot/moot/room"

// Recall sets the state before the first event, for a resumed room. It returns
// the lines that a person needs to continue: objective, participants and the
// waiting draft.
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
