package api

import (
	"encoding/json"
	"fmt"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A Command is what a person does in a room: the JSON form of a [room.Command].
// Do names the act; each act takes the fields that [Command.Act] lists for it.
type Command struct {
	ID  string `json:"id,omitempty" maxLength:"128" doc:"The same id again changes nothing, and gets the same answer"`
	Do  string `json:"do" enum:"say,pause,resume,stop,complete,takeover,release,approve,edit,reject,permit,mode,next,standing,redact,policy,limits,cancelcall" doc:"The act"`
	As  string `json:"as,omitempty" doc:"The person of the room who acts; without it the host"`
	For string `json:"for,omitempty" doc:"say: the seat that this person has taken over and speaks for"`

	Text       string          `json:"text,omitempty" doc:"say, edit: the text"`
	To         string          `json:"to,omitempty" doc:"say: the receiver; without it everybody"`
	MessageID  string          `json:"messageId,omitempty" doc:"say: the id of the message"`
	Visibility room.Visibility `json:"visibility,omitempty" doc:"say: who sees the message"`
	Seat       string          `json:"seat,omitempty" doc:"takeover, release, mode, next, standing: the seat"`
	Mode       room.Mode       `json:"mode,omitempty" doc:"mode: manual, semi_auto or full_auto until the room ends; without it that of the room's file again"`
	Standing   room.Standing   `json:"standing,omitempty" doc:"standing: active, muted, suspended or removed"`
	Reason     string          `json:"reason,omitempty" doc:"pause, stop, complete, reject, permit, standing, redact, cancelcall: why"`
	Draft      string          `json:"draft,omitempty" doc:"approve, edit, reject: the hash of the draft"`
	Approve    bool            `json:"approve,omitempty" doc:"edit: approve the new text"`
	Request    string          `json:"request,omitempty" doc:"permit: the id of the permission request"`
	Allowed    bool            `json:"allowed,omitempty" doc:"permit: the agent may"`
	Always     bool            `json:"always,omitempty" doc:"permit: the agent may in future too"`
	Absent     bool            `json:"absent,omitempty" doc:"permit: no person is there to answer, so that the agent may not"`
	Values     map[string]any  `json:"values,omitempty" doc:"permit: what a person fills into the form of a question, by the names of its fields"`
	Event      int64           `json:"event,omitempty" doc:"redact: the number of the event"`
	Policy     string          `json:"policy,omitempty" doc:"policy: the name of the policy"`
	Digest     string          `json:"digest,omitempty" maxLength:"64" doc:"policy: the SHA-256 of its module, as the list of policies has it; without it any"`
	Settings   json.RawMessage `json:"settings,omitempty" doc:"policy: its settings, an object; without them its defaults"`
	Limits     *room.Limits    `json:"limits,omitempty" doc:"limits: all limits of the room"`
	Call       string          `json:"call,omitempty" maxLength:"128" doc:"cancelcall: the id of the call"`
}

// Act returns the act of c. It does not do so for the act policy, because only the
// host knows policies by their names.
func (c Command) Act() (room.Act, error) {
	switch c.Do {
	case "say":
		return room.Say{Text: c.Text, To: c.To, As: c.For, MessageID: c.MessageID, Visibility: c.Visibility}, nil
	case "pause":
		return room.Pause{Reason: c.Reason}, nil
	case "resume":
		return room.Resume{}, nil
	case "stop":
		return room.Stop{Reason: c.Reason}, nil
	case "complete":
		return room.Complete{Reason: c.Reason}, nil
	case "takeover":
		return room.TakeOver{Participant: c.Seat}, nil
	case "release":
		return room.Release{Participant: c.Seat}, nil
	case "approve":
		return room.Approve{Draft: c.Draft}, nil
	case "edit":
		return room.Edit{Draft: c.Draft, Text: c.Text, Approve: c.Approve}, nil
	case "reject":
		return room.Reject{Draft: c.Draft, Reason: c.Reason}, nil
	case "permit":
		values, err := valuesOf(c.Values)
		return room.Permit{ID: c.Request, Allowed: c.Allowed, Always: c.Always, Absent: c.Absent, Reason: c.Reason, Values: values}, err
	case "mode":
		return room.SetMode{Participant: c.Seat, Mode: c.Mode}, nil
	case "next":
		return room.Next{Participant: c.Seat}, nil
	case "standing":
		return room.SetStanding{Participant: c.Seat, Standing: c.Standing, Reason: c.Reason}, nil
	case "redact":
		return room.Redact{Target: c.Event, Reason: c.Reason}, nil
	case "limits":
		if c.Limits == nil {
			return nil, badCommand("the act limits needs limits", "read those of the room, change some and send all")
		}
		return room.SetLimits{Limits: *c.Limits}, nil
	case "cancelcall":
		return room.CancelCall{Call: c.Call, Reason: c.Reason}, nil
	}
	return nil, badCommand(fmt.Sprintf("%q is no act", c.Do), "`moot schema openapi` lists the acts")
}

// valuesOf returns the values of a form as an answer has them, nil for none.
func valuesOf(values map[string]any) ([]byte, error) {
	if values == nil {
		return nil, nil
	}
	return json.Marshal(values)
}

// CommandOf returns the command that asks for do, an act of a person. It does not
// support room.SetPolicy, whose body has the policy's name.
func CommandOf(do room.Act) (Command, error) {
	switch do := do.(type) {
	case room.Say:
		return Command{Do: "say", Text: do.Text, To: do.To, For: do.As, MessageID: do.MessageID, Visibility: do.Visibility}, nil
	case room.Pause:
		return Command{Do: "pause", Reason: do.Reason}, nil
	case room.Resume:
		return Command{Do: "resume"}, nil
	case room.Stop:
		return Command{Do: "stop", Reason: do.Reason}, nil
	case room.Complete:
		return Command{Do: "complete", Reason: do.Reason}, nil
	case room.TakeOver:
		return Command{Do: "takeover", Seat: do.Participant}, nil
	case room.Release:
		return Command{Do: "release", Seat: do.Participant}, nil
	case room.Approve:
		return Command{Do: "approve", Draft: do.Draft}, nil
	case room.Edit:
		return Command{Do: "edit", Draft: do.Draft, Text: do.Text, Approve: do.Approve}, nil
	case room.Reject:
		return Command{Do: "reject", Draft: do.Draft, Reason: do.Reason}, nil
	case room.Permit:
		var values map[string]any
		if do.Values != nil && json.Unmarshal(do.Values, &values) != nil {
			return Command{}, badCommand("the values of an answer are no JSON object", "")
		}
		return Command{Do: "permit", Request: do.ID, Allowed: do.Allowed, Always: do.Always, Absent: do.Absent, Reason: do.Reason, Values: values}, nil
	case room.SetMode:
		return Command{Do: "mode", Seat: do.Participant, Mode: do.Mode}, nil
	case room.Next:
		return Command{Do: "next", Seat: do.Participant}, nil
	case room.SetStanding:
		return Command{Do: "standing", Seat: do.Participant, Standing: do.Standing, Reason: do.Reason}, nil
	case room.Redact:
		return Command{Do: "redact", Event: do.Target, Reason: do.Reason}, nil
	case room.SetLimits:
		return Command{Do: "limits", Limits: &do.Limits}, nil
	case room.CancelCall:
		return Command{Do: "cancelcall", Call: do.Call, Reason: do.Reason}, nil
	}
	return Command{}, badCommand(fmt.Sprintf("%T is no act of a person", do), "")
}

func badCommand(what, fix string) error {
	return &problem.Error{Code: "API-COMMAND", What: what, Fix: fix}
}
