package api

import (
	"time"

	"github.com/folkmoot/moot/room/plan"
)

// MaxWait is the longest time that one await takes. A session that waits longer
// awaits again.
const MaxWait = 55 * time.Second

// An Await asks whether it is the turn of the session that has a seat. It renews the
// lease of the seat.
type Await struct {
	Wait  string `json:"wait,omitempty" maxLength:"16" doc:"How long to wait for the turn, such as 25s; at most 55s, without it 25s"`
	Fresh bool   `json:"fresh,omitempty" doc:"The session remembers nothing of the room: its next prompt has the whole history that fits"`
}

// DefaultWait is the time that an await without one takes.
const DefaultWait = 25 * time.Second

// A Turn answers an Await: the prompt of the turn, or that it is not the turn of the
// seat. The same turn is given again until it is answered.
type Turn struct {
	Turn  bool   `json:"turn" doc:"It is the turn of the seat, and the other fields describe it"`
	Again bool   `json:"again,omitempty" doc:"It is not the turn of the seat yet: await again"`
	Ended bool   `json:"ended,omitempty" doc:"The room has ended; do not await again"`
	Why   string `json:"why,omitempty" doc:"Why the room has ended, or why it is not known whose turn it is"`

	Room     string    `json:"room,omitempty"`
	Seat     string    `json:"seat,omitempty"`
	Request  string    `json:"request,omitempty" doc:"Id of the request; the answer names it"`
	Epoch    uint64    `json:"epoch,omitempty" doc:"Of the process that gave the turn; the answer names it"`
	Number   int       `json:"number,omitempty" doc:"Of the turn in the room"`
	Deadline time.Time `json:"deadline,omitzero" doc:"When the answer is due"`
	Text     string    `json:"text,omitempty" doc:"The prompt"`
}

// A SeatAnswer is the answer of a session to its turn.
type SeatAnswer struct {
	Request    string   `json:"request,omitempty" maxLength:"128" doc:"Without it the one that the newest await of the seat was given"`
	Epoch      uint64   `json:"epoch,omitempty" doc:"Without it that of the request"`
	Text       string   `json:"text" minLength:"1" doc:"What is posted to the room; only the word PASS passes"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the session is"`
}

// A SeatPass gives the turn of a session back without a message.
type SeatPass struct {
	Request string `json:"request,omitempty" maxLength:"128" doc:"As in an answer"`
	Epoch   uint64 `json:"epoch,omitempty" doc:"As in an answer"`
	Reason  string `json:"reason,omitempty" maxLength:"2000" doc:"Why, for the people and policies of the room"`
}

// A HandOff names who should go on after the open turn of a seat.
type HandOff struct {
	To     string `json:"to" minLength:"1" maxLength:"128" doc:"Id of a participant, or a role that one participant has"`
	Reason string `json:"reason,omitempty" maxLength:"2000" doc:"Why, for the people and policies of the room; it is cut to 300 bytes"`
}

// A HandedOff says whether the room has accepted a hand-off. It counts when the turn
// ends with an answer.
type HandedOff struct {
	Accepted bool   `json:"accepted"`
	Refused  string `json:"refused,omitempty" doc:"Why the room has refused it; the turn goes on"`
}

// A SeatAnswered says how the room has recorded an answer or a pass.
type SeatAnswered struct {
	Request string `json:"request"`
	Number  int    `json:"number" doc:"Of the turn in the room"`
	Outcome string `json:"outcome" enum:"posted,drafted,passed" doc:"drafted: a person reviews it before it is posted"`
	Seq     int64  `json:"seq" doc:"The number of the event that records it"`
}

// A Claim asks for a free task of the room's plan.
type Claim struct {
	Task string `json:"task" minLength:"1" maxLength:"128" doc:"The id of the task"`
}

// A Task is one of the room's plan.
type Task struct {
	ID    string     `json:"id"`
	Title string     `json:"title,omitempty"`
	Owner string     `json:"owner,omitempty" doc:"The participant that works on it"`
	State plan.State `json:"state" enum:"submitted,working,input_required,auth_required,completed,failed,canceled,rejected" doc:"submitted: it waits for the tasks of after"`
	After []string   `json:"after,omitempty" doc:"Tasks that must be completed or canceled first"`
}

// TaskOf returns the form of t.
func TaskOf(t plan.Task) Task {
	return Task{ID: t.ID, Title: t.Title, Owner: t.Owner, State: t.State, After: t.After}
}
