package room

import "time"

// raised returns the limits with which a room that a limit or a loop guard has
// stopped can go on: the one that it has reached is doubled, and leaves enough for
// one more turn. Other rooms keep their limits.
func (s *State) raised() Limits {
	l := s.Limits
	if s.Phase != PhaseStopped {
		return l
	}
	switch s.Ending.Name {
	case "maxTurns":
		l.MaxTurns = 2 * max(l.MaxTurns, s.Tally.Turns)
	case "maxDuration":
		l.MaxDuration = (2*max(l.MaxDuration, s.Clock) + l.TurnTimeout).Truncate(time.Second)
	case "maxFailures":
		l.MaxFailures = 2 * max(l.MaxFailures, s.Tally.Failures)
	case "maxTokens":
		l.MaxTokens = 2*max(l.MaxTokens, s.Tally.Tokens) + int64(s.Bounds.Tokens)
	case "maxCost":
		l.MaxCost = 2*max(l.MaxCost, s.Tally.Cost) + s.costliestPrompt()
	case loopSameText:
		l.SameText *= 2
		l.SameTextOf = max(l.SameTextOf, l.SameText)
	}
	return l
}

// costliestPrompt returns the highest cost that a prompt of the allowed size can
// have.
func (s *State) costliestPrompt() int64 {
	most := int64(0)
	for _, x := range s.Seats {
		most = max(most, cost(x.Price, int64(s.Bounds.Tokens), 0))
	}
	return most
}
