package replay

import (
	"context"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// A Policy decides. It must be safe for concurrent use: many transcripts are
// replayed at once.
type Policy interface {
	Propose(context.Context, policy.Input) (policy.Decision, policy.Record, error)
}

// A Subject is a policy to replay.
type Subject struct {
	Name   string         // in the report; unique among the subjects
	Ref    room.PolicyRef // what its inputs depend on
	Policy Policy
}

// A Transcript is one of: a talk from elsewhere, or the events of a room of
// moot.
type Transcript struct {
	Name string
	Talk *Talk
	Room []room.Event
}
