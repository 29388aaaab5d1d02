package plan

// State is the state of a task, as in the protocol Agent2Agent.
type State string

// States.
const (
	Submitted     State = "submitted"
	Working       State = "working"
	InputRequired State = "input_required"
	AuthRequired  State = "auth_required"
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected" // its owner does not do it
)

// Ended reports whether a task in the state is not worked on any more. It stays ended:
// more work is a new task.
func (s State) Ended() bool {
	switch s {
	case Completed, Failed, Canceled, Rejected:
		return true
	}
	return false
}

// waiting reports whether a task in the state waits for an answer.
func (s State) waiting() bool { return s == InputRequired || s == AuthRequired }

func (s State) valid() bool {
	switch s {
	case Submitted, Working, InputRequired, AuthRequired:
		return true
	}
	return s.Ended()
}

// May reports whether a task may go from one state to another.
func (s State) May(to State) bool { return to.valid() && (s == to || !s.Ended()) }
