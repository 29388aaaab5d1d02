package transcripts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/plan"
)

// hides reports whether the timeline leaves an event out, because it is about what
// agents do for each other: readers below the level Internal see nothing of that.
func (t *timelineBuilder) hides(e room.Event) bool {
	switch e.Body.(type) {
	case room.PlanChanged, room.CallStarted, room.CallChanged, room.CallEnded, room.MessageDead, room.AckMissed, room.HandoffAsked:
		_, seen := e.VisibleAt(t.timeline.Level.visibility())
		return !seen
	}
	return false
}

// envelope adds what a message has besides its text. One without a text has its
// summary, and a typed one its payload too.
func (it *item) envelope(m room.Message) {
	it.Text = cmp.Or(m.Text, m.Summary)
	if m.Kind != room.KindUtterance {
		it.fact("kind", m.Kind)
	}
	if kinds.Typed(m.Kind) || m.Kind == room.KindRequest {
		it.fact("id", m.ID)
	}
	for _, f := range []fact{{"for", m.For}, {"priority", m.Priority}, {"answers", m.Correlation}, {"follows", m.Parent}} {
		if f.Value != "" {
			it.fact(f.Name, f.Value)
		}
	}
	if m.RequiresAck {
		it.fact("asks for", "an acknowledgement")
	}
	if len(m.Payload) > 0 && !it.SummaryOnly {
		it.Text = strings.TrimPrefix(it.Text+"\npayload: "+string(m.Payload), "\n")
	}
}

// cooperation describes an event about the plan, calls and messages of agents.
func (it *item) cooperation(body room.Body) {
	switch b := body.(type) {
	case room.PlanChanged:
		it.Note = join("plan", strings.Join(planNotes(b.Change), "; "))
	case room.CallStarted:
		it.Note = join(b.Caller+" calls "+b.Agent+" ("+b.ID+")", b.Task)
	case room.CallChanged:
		if b.Asked != "" {
			it.Note = join("call "+b.Call+" waits for an answer of "+b.Asked, b.Text)
		}
	case room.CallEnded:
		r := b.Result
		it.Note = fmt.Sprintf("call %s of %s has %s (%d tokens, %s s)", b.Call, r.Agent, b.State, r.Tokens, strconv.FormatFloat(r.Duration, 'f', 1, 64))
		it.Text = cmp.Or(r.Output, strings.Join(r.Errors, "\n"))
	case room.MessageDead:
		it.Kind, it.Actor = itemFailure, b.Message.From
		it.Note = join("the message "+b.Message.ID+" ("+b.Message.Kind+") to "+b.Message.To+" is a dead letter", b.Reason)
	case room.AckMissed:
		it.Note = fmt.Sprintf("%s has not acknowledged the message %s (attempt %d)", b.Participant, b.Message, b.Attempt)
	}
}

// planNotes says in a few words each what a change does to the plan.
func planNotes(c plan.Change) (all []string) {
	if c.Intent != nil {
		all = append(all, join("intent "+strconv.Itoa(c.Intent.Version), c.Intent.Objective))
		for i, text := range c.Intent.Acceptance {
			all = append(all, join("criterion "+strconv.Itoa(i+1), text))
		}
	}
	for _, t := range c.Tasks {
		note := "task " + t.ID
		if t.Title != "" {
			note += " (" + t.Title + ")"
		}
		note += " is " + string(t.State)
		if t.Owner != "" {
			note += ", of " + t.Owner
		}
		all = append(all, join(note, t.Reason))
	}
	if c.Proposed != nil {
		var ids []string
		for _, t := range c.Proposed.Tasks {
			ids = append(ids, t.ID)
		}
		all = append(all, "proposal "+c.Proposed.ID+" of task "+strings.Join(ids, ", "))
	}
	for _, id := range c.Accepted {
		all = append(all, "proposal "+id+" accepted")
	}
	for _, id := range c.Rejected {
		all = append(all, "proposal "+id+" rejected")
	}
	for _, x := range c.Criteria {
		state := "is not met"
		switch {
		case x.Waived:
			state = "is waived"
		case x.Met:
			state = "is met"
		}
		all = append(all, join("criterion "+strconv.Itoa(x.Number)+" "+state, x.Evidence))
	}
	for _, x := range c.Checks {
		if x.Reply == "" {
			all = append(all, "check "+x.ID+" of "+x.To)
		} else {
			all = append(all, "check "+x.ID+" answered in "+x.Reply)
		}
	}
	if c.Final != "" {
		all = append(all, "final response "+c.Final)
	}
	return all
}
