package room

import (
	"time"

	"github.com/folkmoot/moot/policies/policy"
)

// RecordOf returns the record of the decision that e holds, or nil.
func RecordOf(e Event) *policy.Record {
	switch b := e.Body.(type) {
	case RoundDeclined:
		return &b.Record
	case TurnGranted:
		return b.Record
	case Completed:
		return b.Record
	case Paused:
		return b.Record
	}
	return nil
}

// Asked returns the input that the policy was given for the decision recorded
// in r. s must be the fold of everything before the event that holds r.
func (s *State) Asked(r *policy.Record, text TextFunc) (policy.Input, error) {
	return s.Input(s.Policy, time.Duration(r.AskedAtMS)*time.Millisecond, text)
}
