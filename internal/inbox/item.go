// Package inbox lists what waits for a person in the rooms of a host: drafts, and
// permission requests and questions of the host's own agents.
package inbox

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
)

// Kinds of items.
const (
	Draft      = "draft"      // a reply that is sent when a person approves it
	Permission = "permission" // an action for which an agent asks
	Question   = "question"   // a form that an agent asks a person to fill in
)

// An Item waits for the answer of a person with control of its room, who is the owner
// of the agent.
type Item struct {
	ID    string    `json:"id" doc:"ROOM/HASH of a draft, ROOM/TURN.N of a permission request or a question"`
	Kind  string    `json:"kind" enum:"draft,permission,question"`
	Room  string    `json:"room"`
	Name  string    `json:"name,omitempty" doc:"The name of the room"`
	Agent string    `json:"agent" doc:"The seat that has the turn"`
	Turn  int       `json:"turn"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero" doc:"When it ends for want of an answer, at the earliest; absent for never"`
	Phase string    `json:"phase" doc:"Of the room; a draft is approved only while it is live"`

	Chain []calls.Link `json:"chain,omitempty" doc:"In the child room of a call: who called whom, from the first caller to the caller of the agent"`

	To     string `json:"to,omitempty" doc:"Draft: the receiver"`
	Text   string `json:"text,omitempty" doc:"Draft: the whole text"`
	Why    string `json:"why,omitempty" doc:"Draft: why it waits"`
	Edited bool   `json:"edited,omitempty" doc:"Draft: a person has changed the text"`

	Permission *room.Permission `json:"permission,omitempty" doc:"What the agent asks for, in its own words"`
	Question   *room.Question   `json:"question,omitempty" doc:"The form, in the agent's own words"`
}

// An Ended is an item that does not wait any more.
type Ended struct {
	ID     string       `json:"id"`
	Answer *room.Answer `json:"answer,omitempty" doc:"Absent if the item ended without an answer, such as with its turn"`
}

// A Change is what has changed in a list since the one before: one of both.
type Change struct {
	Item  *Item  `json:"item,omitempty"`
	Ended *Ended `json:"ended,omitempty"`
}

// ItemsOf returns the items of a room, a draft or the requests with the oldest first.
func ItemsOf(w room.Waiting) (items []Item) {
	item := Item{Room: w.Room, Name: w.Name, Agent: w.Participant, Turn: w.Turn, Phase: string(w.Phase), Chain: w.Chain}
	if d := w.Draft; d != nil {
		x := item
		x.ID, x.Kind, x.Since = w.Room+"/"+d.Hash, Draft, d.At
		if w.Timeout > 0 && w.Phase == room.PhaseLive {
			x.Until = d.At.Add(w.Timeout)
		}
		x.To, x.Text, x.Why, x.Edited = d.Message.To, d.Message.Text, d.Why, d.Edited
		items = append(items, x)
	}
	for _, r := range w.Requests {
		x := item
		x.ID, x.Kind, x.Since, x.Until = w.Room+"/"+r.ID, Permission, r.At, r.At.Add(r.Timeout)
		if x.Question = r.Permission.Question; x.Question != nil {
			x.Kind = Question
		} else {
			x.Permission = &r.Permission
		}
		items = append(items, x)
	}
	return items
}

// Answers that a person may give.
const (
	Approve = "approve" // draft: send it; permission: the same as Allow; question: the form is filled in
	Edit    = "edit"    // draft: send another text
	Allow   = "allow"   // permission: this once
	Always  = "always"  // permission: the like in future, too
	Reject  = "reject"  // draft: do not send it; permission and question: the same as Deny
	Deny    = "deny"    // permission: refuse it; question: do not answer it
)

// An Answer is what a person says to an item.
type Answer struct {
	Answer string `json:"answer" enum:"approve,edit,reject,allow,always,deny" doc:"approve and allow mean the same, and so do reject and deny"`
	As     string `json:"as,omitempty" doc:"The person of the room who answers; without it the host"`
	Text   string `json:"text,omitempty" doc:"edit: the text that is sent"`
	Keep   bool   `json:"keep,omitempty" doc:"edit: the new text waits for an approval"`
	Reason string `json:"reason,omitempty" doc:"reject, deny: why"`

	Values map[string]any `json:"values,omitempty" doc:"approve, allow: what is filled into the form of a question, by the names of its fields. A field that is left out has its default, null leaves it empty"`
}

// Split returns the room of the item with that id, and its id in the room.
func Split(id string) (in, item string, err error) {
	in, item, ok := strings.Cut(id, "/")
	if !ok || in == "" || item == "" || strings.Contains(item, "/") {
		return "", "", UnknownError(id)
	}
	return in, item, nil
}

// UnknownError reports that no item has an id.
func UnknownError(id string) *problem.Error {
	return &problem.Error{Code: "INBOX-ID", What: "no item that waits has such an id", Where: id, Fix: "`moot inbox` lists the ids: ROOM/HASH of a draft, ROOM/TURN.N of a permission request or a question"}
}

// IsRequest reports whether the id of an item in its room is that of a permission
// request or a question. Hashes of drafts have no point.
func IsRequest(item string) bool { return strings.Contains(item, ".") }

// Act returns the act that gives the answer a to an item of a room.
func (a Answer) Act(item string) (room.Act, error) {
	if IsRequest(item) {
		switch a.Answer {
		case Approve, Allow, Always:
			return a.allowed(item)
		case Reject, Deny:
			return room.Permit{ID: item, Reason: a.Reason}, nil
		}
		return nil, answerError("a permission request cannot be answered with "+a.Answer, "allow, always or deny it")
	}
	switch a.Answer {
	case Approve, Allow:
		return room.Approve{Draft: item}, nil
	case Edit:
		if strings.TrimSpace(a.Text) == "" {
			return nil, answerError("the new text is missing", "send text, or reject the draft")
		}
		return room.Edit{Draft: item, Text: a.Text, Approve: !a.Keep}, nil
	case Reject, Deny:
		return room.Reject{Draft: item, Reason: a.Reason}, nil
	}
	return nil, answerError("a draft cannot be answered with "+a.Answer, "approve, edit or reject it")
}

// allowed allows an action, or answers a question.
func (a Answer) allowed(item string) (room.Act, error) {
	do := room.Permit{ID: item, Allowed: true, Always: a.Answer == Always}
	var err error
	if a.Values != nil {
		do.Values, err = json.Marshal(a.Values)
	}
	return do, err
}

func answerError(what, fix string) error {
	return &problem.Error{Code: "INBOX-ANSWER", What: what, Fix: fix}
}
