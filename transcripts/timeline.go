package transcripts

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/log"
)

// A timeline is a room as readers at one level see it. Markdown, HTML and text
// are rendered from it.
type timeline struct {
	Level  Level
	Spec   room.Spec
	Limits room.Limits // in force at the end
	Stats  *Stats
	Items  []item
	Hidden int // number of messages hidden at this level
	From   time.Time
}

// Kinds of items.
const (
	itemMessage = "message"
	itemDraft   = "draft"   // proposed, edited or rejected
	itemDecline = "decline" // a declined round
	itemFailure = "trouble" // a failed, interrupted or late turn, a protocol violation
	itemNote    = "note"    // another event of the room
	itemHidden  = "hidden"  // a message hidden at this level
)

// An item is one entry of the timeline.
type item struct {
	Kind        string
	Seq         int64
	Clock       time.Duration
	Turn        int
	Actor       string // id
	To          string // id; "" for a broadcast
	Text        string // what was said
	Note        string // the event in a few words
	SummaryOnly bool   // only the summary is shown
	Level       room.Visibility
	Facts       []fact // details
	Grant       *grant // the decision that led to it
}

// A fact is a name with a value.
type fact struct{ Name, Value string }

// A grant is the decision that gave a participant the floor.
type grant struct {
	Reason     string
	Policy     string // "" if a person chose
	Confidence string
	Scores     []fact
	Approval   []string // reviews of the draft
}

// buildTimeline returns the timeline of a room.
func buildTimeline(entries iter.Seq2[log.Entry, error], level Level) (*timeline, error) {
	t := timelineBuilder{counter: counter{index: map[string]int{}}, redact: redactor{level: level}, timeline: &timeline{Level: level}}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		t.counter.count(e)
		if t.timeline.From.IsZero() {
			t.timeline.From = e.Event.At
		}
		t.event(e)
	}
	t.timeline.Spec, t.timeline.Limits = t.state.Spec, t.state.Limits
	t.timeline.Spec.Secret = "" // not shown at any level
	t.timeline.Stats = t.counter.finish()
	return t.timeline, nil
}

// A timelineBuilder converts events to items.
type timelineBuilder struct {
	counter
	redact   redactor
	timeline *timeline
	grant    *grant
}

func (t *timelineBuilder) event(e log.Entry) {
	it := item{Seq: int64(e.Seq), Clock: e.Event.Clock, Actor: e.Event.Actor}
	if e.Redacted && e.Event.Body == nil {
		it.Kind, it.Note = itemNote, "redacted"
		t.add(it)
		return
	}
	shown := t.redact.event(e.Event)
	switch b := shown.Body.(type) {
	case room.MessagePosted:
		t.message(it, b, e)
	case room.TurnGranted:
		t.turnGranted(b)
	case room.RoundDeclined:
		it.Kind, it.Note = itemDecline, b.Reason
		if b.Record.Micros > 0 {
			it.fact("decided in", human.Duration(time.Duration(b.Record.Micros)*time.Microsecond))
		}
		it.Actor = b.Record.Policy
		t.add(it)
	default:
		if t.hides(e.Event) {
			return
		}
		if it.describe(shown.Body, t) {
			t.add(it)
		}
	}
}

func (t *timelineBuilder) add(it item) { t.timeline.Items = append(t.timeline.Items, it) }

func (t *timelineBuilder) message(it item, b room.MessagePosted, e log.Entry) {
	m := b.Message
	it.Kind, it.Actor, it.Text, it.Turn, it.Level = itemMessage, m.From, m.Text, b.Turn, m.Visibility
	if m.To != room.Broadcast {
		it.To = m.To
	}
	if _, seen := original(e).VisibleAt(t.timeline.Level.visibility()); !seen {
		it.Kind, it.Text = itemHidden, ""
		t.timeline.Hidden++
	}
	it.SummaryOnly = it.Kind == itemMessage && m.Visibility == room.UserRedacted && t.timeline.Level == UserVisible
	if e.Redacted {
		it.Note = "redacted"
	}
	if it.Kind == itemMessage {
		it.envelope(m)
	}
	if m.By != "" {
		it.fact("typed by", m.By)
	}
	it.turn(t, b)
	t.add(it)
}

// original returns the message of e before redaction.
func original(e log.Entry) room.Message {
	b, _ := e.Event.Body.(room.MessagePosted)
	return b.Message
}

// turn adds the facts of the turn that the message ended.
func (it *item) turn(t *timelineBuilder, b room.MessagePosted) {
	if b.Turn == 0 {
		return
	}
	it.Grant, t.grant = t.grant, nil
	if b.Auto {
		it.fact("sent", "without a review")
	}
	if b.Latency > 0 {
		it.fact("took", human.Duration(b.Latency))
	}
	it.usage(b.Usage)
	if c := b.Message.Confidence; c != nil {
		it.fact("confidence", decimals(*c))
	}
	if n := b.Message.ToolRounds; n > 0 {
		it.fact("tool rounds by its own word", strconv.Itoa(n))
	}
	if calls := b.Message.Tools; len(calls) > 0 {
		var all []string
		for _, c := range calls {
			all = append(all, c.String())
		}
		if n := b.Message.ToolsMore; n > 0 {
			all = append(all, strconv.Itoa(n)+" more")
		}
		it.fact("tool calls", strings.Join(all, "; "))
	}
	if b.Message.Cut {
		it.fact("text", "cut short")
	}
}

// usage adds what the agent has stated of its turn.
func (it *item) usage(u room.Usage) {
	part := func(n int64, of string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(" (%d %s)", n, of)
	}
	if u.Known {
		it.fact("tokens", fmt.Sprintf("%d in%s, %d out%s", u.Input, part(u.CachedInput, "cached"), u.Output, part(u.Reasoning, "reasoning")))
	}
	if u.CostKnown {
		it.fact("cost in US dollars", human.Money(u.Cost))
	}
}

func (it *item) fact(name, value string) { it.Facts = append(it.Facts, fact{name, value}) }

func (t *timelineBuilder) turnGranted(b room.TurnGranted) {
	g := &grant{Reason: b.Why()}
	if b.Confidence != nil {
		g.Confidence = decimals(*b.Confidence)
	}
	if b.Record != nil {
		g.Policy = b.Record.Policy
	}
	scores := slices.Clone(b.Scores)
	slices.SortStableFunc(scores, func(a, b policy.Score) int { return cmp.Compare(b.Score, a.Score) })
	for _, s := range scores {
		g.Scores = append(g.Scores, fact{s.Agent, decimals(s.Score)})
	}
	t.grant = g
}

func decimals(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// describe sets the fields from a body that is neither a message nor a decision.
// It reports whether the item belongs in the timeline.
func (it *item) describe(body room.Body, t *timelineBuilder) bool {
	it.Kind = itemNote
	switch b := body.(type) {
	case room.Joined:
		it.Note = b.Participant.Label() + " joined"
	case room.SeatChanged:
		it.Note = join(b.Participant+" is now "+string(b.Standing), b.Reason)
	case room.SeatTaken:
		it.Note = b.By + " took over " + b.Participant
	case room.SeatReleased:
		it.Note = b.Participant + " was released"
	case room.ModeChanged:
		it.Note = b.Participant + " is reviewed as " + cmp.Or(string(b.Mode), "at its start") + ", by " + it.Actor
	case room.SeatReady:
		it.Note = b.Participant + " is ready after " + human.Duration(b.Latency)
		return b.Latency >= time.Second
	case room.HandoffAsked:
		it.Note = join(b.From+" hands off to "+b.To, b.Reason)
		if b.Refused != "" {
			it.Note = b.From + " may not hand off: " + b.Refused
		}
	case room.PlanChanged, room.CallStarted, room.CallChanged, room.CallEnded, room.MessageDead, room.AckMissed:
		it.cooperation(body)
	case room.BudgetChanged:
		it.Note = b.Participant + " has used " + b.Text()
		return b.Level != budget.Free
	case room.PresenceChanged:
		it.Note = b.Participant + " " + presenceOf(b.Presence)
		return b.Presence != room.Idle
	case room.SeatFailed:
		it.Kind, it.Actor = itemFailure, b.Participant
		it.Note = join(b.Participant+" failed outside its turn", b.Code+": "+b.Error)
	case room.SeatForgot:
		it.Note = b.Participant + " was restarted and gets the full history"
	case room.TurnDrafted, room.TurnEdited, room.TurnApproved, room.TurnRejected:
		return it.draft(body, t)
	case room.TurnPassed:
		it.turnEnded(t, itemNote, b.Turn, t.speaking+" passed", b.Reason)
	case room.TurnFailed:
		first, rest, _ := strings.Cut(b.Error, "\n")
		it.turnEnded(t, itemFailure, b.Turn, "failed", b.Code+": "+first)
		it.Text = rest // such as a traceback
	case room.TurnInterrupted:
		it.turnEnded(t, itemFailure, b.Turn, "interrupted", b.Reason)
	case room.PermissionAsked, room.PermissionAnswered:
		it.permission(body)
	case room.ReplyLate:
		it.Kind, it.Turn, it.Actor = itemFailure, b.Turn, b.Participant
		it.Note = fmt.Sprintf("replied too late: %d bytes, not delivered", b.Bytes)
	case room.Violation:
		it.Kind, it.Actor = itemFailure, b.Participant
		it.Note = join("broke its protocol", b.Code, b.Detail)
	case room.PolicyChanged:
		it.Note = "policy changed to " + b.Policy.Name
	case room.LimitsChanged:
		it.Note = "limits changed"
	case room.SummaryMade:
		it.Note, it.Text = "summary by "+b.By, b.Text
	case room.Redacted:
		it.Note = join(fmt.Sprintf("redacted event %d", b.Target), b.Reason)
	case room.Paused:
		it.Note = join("paused", b.Reason)
	case room.Resumed:
		it.Note = "resumed"
	case room.Stopped:
		it.Note = join("stopped", b.Cause+" "+b.Name, b.Reason)
	case room.Completed:
		it.Note = join("completed", b.Cause, b.Reason)
	case room.Errored:
		it.Kind, it.Note = itemFailure, join("ended in an error", b.Code, b.Reason)
	}
	return it.Note != ""
}

// permission describes a permission request or a question, and its answer.
func (it *item) permission(body room.Body) {
	switch b := body.(type) {
	case room.PermissionAsked:
		p := b.Permission
		it.Turn, it.Actor, it.Text = b.Turn, b.Participant, p.Command
		it.Note = join(b.Participant+" asked for permission "+b.ID, p.Kind, strings.Join(p.Argv, " "), strings.Join(p.Paths, ", "), p.Title)
		if p.Question != nil {
			it.Note, it.Text = b.Participant+" asked question "+b.ID, p.Question.Message
		}
	case room.PermissionAnswered:
		it.Turn = b.Turn
		it.Note = join("permission "+b.ID+" "+answerOf(b), b.Reason)
		if b.Values != nil {
			it.Note = join("question "+b.ID+" answered by "+b.By, string(b.Values))
		}
	}
}

// turnEnded describes the end of a turn without a message.
func (it *item) turnEnded(t *timelineBuilder, kind string, turn int, what, why string) {
	it.Kind, it.Turn, it.Actor, it.Note = kind, turn, t.speaking, join(what, why)
	it.Grant, t.grant = t.grant, nil
}

// draft describes a draft and its reviews. An approval is shown with the message
// that follows it.
func (it *item) draft(body room.Body, t *timelineBuilder) bool {
	it.Kind = itemDraft
	actor := it.Actor
	it.Actor = t.speaking
	did := func(what string) {
		if t.grant != nil {
			t.grant.Approval = append(t.grant.Approval, what+" by "+actor)
		}
	}
	switch b := body.(type) {
	case room.TurnDrafted:
		it.Turn, it.Text, it.Note = b.Turn, b.Message.Text, join("draft waits for a review", b.Why)
		it.Level = b.Message.Visibility
	case room.TurnEdited:
		it.Turn, it.Text, it.Note = b.Turn, b.Text, "draft edited by "+actor
		did("edited")
	case room.TurnApproved:
		did("approved")
		return false
	case room.TurnRejected:
		it.Turn, it.Note = b.Turn, join("draft rejected by "+actor, b.Reason)
		t.grant = nil
	}
	return true
}

// answerOf says how a permission request was answered.
func answerOf(b room.PermissionAnswered) string {
	switch {
	case b.Always:
		return "allowed by " + b.By + ", also for the like"
	case b.Allowed:
		return "allowed by " + b.By
	}
	return "refused by " + b.By
}

// join joins an event and its reasons on one line.
func join(what string, why ...string) string {
	for _, w := range why {
		if w = strings.TrimSpace(w); w != "" {
			what += ": " + w
		}
	}
	return what
}

// presenceOf says in words whether a session is there.
func presenceOf(p room.Presence) string {
	if p == room.Away {
		return "is away"
	}
	return "awaits its turns"
}
