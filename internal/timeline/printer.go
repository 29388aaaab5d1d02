package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/calls"
)

// A Printer converts the events of a room, in order, to lines of text. It is not
// safe for concurrent use.
type Printer struct {
	Style
	// You is the participant that reads the output; "" is the host.
	You string
	// Badge is shown next to the name of the room, such as DEMO.
	Badge string
	// Below returns the calls that were made in the room of a call, which are shown when
	// that has ended; nil shows none.
	Below func(room string) []calls.Call

	name     string // of the policy
	seats    map[string]seat
	order    []string
	opened   *room.Opened // until the roster is complete
	turn     granted
	approved string // the actor that approved the draft of this turn
	edited   string
	declines int
	here     map[string]bool         // the seats whose sessions are not away
	forms    map[string]bool         // the ids of questions
	calls    map[string]calls.Call   // the open ones
	read     map[string][]calls.Call // what Below has returned
}

// A seat is a participant and its colour.
type seat struct {
	room.Participant
	color string
}

// granted is the open turn.
type granted struct {
	number int
	who    string
	reason string
	tokens int64
	usage  room.Usage
}

// with returns a copy of p with another style. It continues from the same event.
func (p Printer) with(s Style) *Printer {
	p.Style = s
	return &p
}

// Event returns the lines for e, each with a line feed, or "" if e is not shown.
func (p *Printer) Event(e room.Event) string {
	text := p.head(e) + p.event(e)
	if _, ok := e.Body.(room.RoundDeclined); !ok && text != "" {
		p.declines = 0 // bids and other events between two rounds are not shown
	}
	return text
}

// skip notes e as Event does, and returns the lines of the roster only.
func (p *Printer) skip(e room.Event) string {
	head := p.head(e)
	p.event(e)
	p.declines = 0
	return head
}

func (p *Printer) event(e room.Event) string {
	switch b := e.Body.(type) {
	case room.Claimed:
		clear(p.here)
		if b.Restart {
			return p.notice(yellow, "reopened: the host had ended while the room was live")
		}
	case room.PolicyChanged:
		p.name = policyName(b.Policy)
		return p.notice("", "policy is now "+p.name+p.by(e.Actor))
	case room.LimitsChanged:
		return p.notice("", "limits changed"+p.by(e.Actor))
	case room.SeatChanged:
		code := ""
		if b.Standing == room.Suspended || b.Standing == room.Removed {
			code = yellow
		}
		return p.notice(code, p.label(b.Participant)+" is now "+string(b.Standing)+p.whoChanged(e.Actor, b)+because(b.Reason))
	case room.SeatTaken:
		return p.notice("", p.label(b.Participant)+" is taken over"+p.by(b.By))
	case room.SeatReleased:
		return p.notice("", p.label(b.Participant)+" is released")
	case room.ModeChanged:
		return p.modeChanged(e, b)
	case room.SeatForgot:
		return p.notice(dim, p.label(b.Participant)+" was restarted and gets the full history")
	case room.SeatReady:
		if b.Latency >= time.Second {
			return p.notice(dim, p.label(b.Participant)+" is ready after "+human.Duration(b.Latency))
		}
	case room.BudgetChanged:
		return p.budget(b)
	case room.PresenceChanged:
		return p.presence(b)
	case room.SeatFailed:
		first, rest, _ := strings.Cut(b.Error, "\n")
		return strings.TrimSuffix(p.notice(yellow, p.label(b.Participant)+" failed outside its turn ("+b.Code+")"+because(first)), "\n") + p.rest(yellow, rest) + "\n"
	case room.RoundDeclined:
		return p.declined(b)
	case room.TurnGranted:
		p.turn = granted{number: b.Turn, who: b.Participant, reason: b.Why(), tokens: b.Tokens}
		p.approved, p.edited = "", ""
	case room.TurnDrafted:
		return p.drafted(b)
	case room.TurnEdited:
		p.edited = p.by(e.Actor) + from(e)
		return p.header("DRAFT ", b.Turn, p.turn.who, []string{"edited" + p.edited}) + p.unsaid(b.Text) + "\n"
	case room.TurnApproved:
		p.approved = p.by(e.Actor) + from(e)
	case room.TurnRejected:
		return p.outcome(b.Turn, "draft rejected"+p.by(e.Actor)+from(e)+because(b.Reason), yellow, room.Usage{})
	case room.TurnPassed:
		return p.outcome(b.Turn, "passed"+because(b.Reason), "", b.Usage)
	case room.TurnFailed:
		first, rest, _ := strings.Cut(b.Error, "\n")
		return strings.TrimSuffix(p.outcome(b.Turn, "failed ("+b.Code+")"+because(first), red, b.Usage), "\n") + p.rest(red, rest) + "\n"
	case room.TurnInterrupted:
		return p.outcome(b.Turn, "interrupted"+because(b.Reason), yellow, room.Usage{})
	case room.MessagePosted:
		return p.message(e, b)
	case room.Redacted:
		return p.notice("", fmt.Sprintf("#%d redacted%s", b.Target, p.by(e.Actor))+because(b.Reason))
	case room.PermissionAsked:
		return p.asked(b)
	case room.PermissionAnswered:
		return p.answered(e, b)
	case room.ReplyLate:
		return p.notice(dim, fmt.Sprintf("a late reply of %s was dropped, %d bytes", p.label(b.Participant), b.Bytes))
	case room.Violation:
		return p.notice(yellow, p.label(b.Participant)+" broke its protocol: "+b.Code+because(b.Detail))
	case room.SummaryMade:
		return p.notice(dim, p.label(b.By)+" summarised what was said")
	case room.CallStarted, room.CallChanged, room.CallEnded:
		return p.call(b)
	case room.MessageDead, room.AckMissed, room.MessageReleased, room.HandoffAsked, room.PlanChanged:
		return p.mail(e)
	case room.Paused, room.Resumed, room.Stopped, room.Completed, room.Errored:
		return p.ending(e)
	}
	return ""
}

// budget says that a seat has used a large share of a budget or all of it, or may
// speak again.
func (p *Printer) budget(b room.BudgetChanged) string {
	switch b.Level {
	case budget.Near:
		return p.notice(yellow, p.label(b.Participant)+" has used "+b.Text())
	case budget.Used:
		text := p.label(b.Participant) + " gets no turn: it has used " + b.Text()
		if !b.Until.IsZero() {
			text += "; the next turn is possible from " + b.Until.Local().Format("Jan 2 15:04:05")
		}
		return p.notice(yellow, text)
	}
	return p.notice("", p.label(b.Participant)+" has budget again: it has used "+b.Text())
}

// presence says that a session has come or left. Whether it awaits its turn just now
// is in the roster.
func (p *Printer) presence(b room.PresenceChanged) string {
	here := b.Presence != room.Away
	if p.here[b.Participant] == here {
		return ""
	}
	if p.here == nil {
		p.here = map[string]bool{}
	}
	if p.here[b.Participant] = here; here && b.Device != "" {
		return p.notice("", "the session of "+p.label(b.Participant)+" has come, on the device of "+term.Line(b.Owner))
	} else if here {
		return p.notice("", "the session of "+p.label(b.Participant)+" has come")
	}
	return p.notice(yellow, p.label(b.Participant)+" is away: no session awaits its turn")
}

// head collects the roster and returns it once, before the first other event.
func (p *Printer) head(e room.Event) string {
	switch b := e.Body.(type) {
	case room.Opened:
		p.opened, p.name = &b, policyName(b.Spec.Policy)
		p.seats, p.order = map[string]seat{}, nil
		return ""
	case room.Joined:
		p.join(b.Participant)
		if p.opened == nil {
			return p.notice("", p.label(b.Participant.ID)+" joined")
		}
		return ""
	}
	if p.opened == nil {
		return ""
	}
	spec := p.opened.Spec
	p.opened = nil
	return p.title(spec)
}

func (p *Printer) join(x room.Participant) {
	if p.seats == nil {
		p.seats = map[string]seat{}
	}
	s, known := p.seats[x.ID]
	if !known {
		p.order = append(p.order, x.ID)
		s.color = speakers[(len(p.order)-1)%len(speakers)]
	}
	s.Participant = x
	p.seats[x.ID] = s
}

// title returns the head of the timeline: objective, participants and limits.
func (p *Printer) title(spec room.Spec) string {
	var b strings.Builder
	line := p.paint(bold, clip(cmp.Or(spec.Name, spec.Room), p.width()-len(p.Badge)-2))
	if p.Badge != "" {
		line += "  " + p.paint(reverse, " "+p.Badge+" ")
	}
	b.WriteString(line + "\n")
	if spec.Objective != "" {
		b.WriteString(p.body(spec.Objective, "  "))
	}
	var who []string
	for _, id := range p.order {
		who = append(who, p.label(id)+" ("+p.kind(id)+")")
	}
	limits := spec.Limits
	about := strings.Join(who, ", ") + "\npolicy " + p.name
	if limits.MaxTurns > 0 {
		about += fmt.Sprintf(", at most %d turns", limits.MaxTurns)
	}
	for line := range strings.Lines(p.body(about, "  ")) {
		b.WriteString(p.paint(dim, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String() + "\n"
}

func policyName(r room.PolicyRef) string {
	return strings.TrimSpace(term.Line(cmp.Or(r.Name, r.Use)) + " " + term.Line(r.Version))
}

// label returns the display name of a participant; that of the reader is "You".
func (p *Printer) label(id string) string {
	switch {
	case id == p.You && id != "":
		return "You"
	case id == room.ActorHost && p.You == "":
		return "You"
	}
	if s, ok := p.seats[id]; ok {
		return clip(s.Label(), 40)
	}
	return clip(id, 40)
}

// speaker returns the label in the colour of the participant.
func (p *Printer) speaker(id string) string { return p.paint(p.colorOf(id), p.label(id)) }

// colorOf returns the SGR code of the label of a participant.
func (p *Printer) colorOf(id string) string {
	if s, ok := p.seats[id]; ok && s.color != "" {
		return bold + ";" + s.color
	}
	return bold
}

// kind returns the kind of a participant and the owner of a remote one.
func (p *Printer) kind(id string) string {
	s, ok := p.seats[id]
	switch {
	case ok && s.Kind == policy.Human && s.Device != "":
		if s.Owner == s.ID {
			return "observer"
		}
		return "observer, " + clip(s.Owner, 30)
	case !ok || s.Kind == policy.Human:
		return "human"
	case s.Kind == policy.Remote && s.Owner != "":
		return "shared, " + clip(s.Owner, 30)
	case s.Kind == "":
		return policy.Local
	}
	return s.Kind
}

// by returns " by ACTOR", or "" for the room and the policy.
func (p *Printer) by(actor string) string {
	if actor == "" || actor == room.ActorRoom || actor == room.ActorPolicy {
		return ""
	}
	who := p.label(actor)
	if who == "You" {
		who = "you"
	}
	return " by " + who
}

// whoChanged returns by whom a seat was changed. Suspensions for failures are the
// host's; older rooms name the seat itself as their actor.
func (p *Printer) whoChanged(actor string, b room.SeatChanged) string {
	if b.Failed || actor == b.Participant {
		return " by the host"
	}
	return p.by(actor)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + term.Line(reason)
}

// rest returns the further lines of an error, such as a traceback.
func (p *Printer) rest(code, lines string) (out string) {
	if lines == "" {
		return ""
	}
	for line := range strings.Lines(p.body(lines, "    ")) {
		out += p.paint(code, strings.TrimSuffix(line, "\n")) + "\n"
	}
	return out
}

// notice returns a line about the room.
func (p *Printer) notice(code, text string) string {
	return p.hang(cmp.Or(code, dim), "── ", text) + "\n"
}

// hang returns text in lines, the first after mark, the others indented as far.
func (p *Printer) hang(code, mark, text string) string {
	var b strings.Builder
	columns := columns(mark)
	for _, line := range wrap(term.Line(text), p.width()-columns) {
		b.WriteString(p.paint(code, mark+line) + "\n")
		mark = strings.Repeat(" ", columns)
	}
	return b.String()
}

// thousands formats a count with at most four digits and a k or M.
func thousands(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Recall sets the state before the first event, for a resumed room. It returns
// the lines that a person needs to continue: objective, participants and the
// waiting draft.
func (p *Printer) Recall(s *room.State) string { return p.recallHead(s) + p.recallDraft(s) }

// recallHead is Recall without the draft.
func (p *Printer) recallHead(s *room.State) string {
	p.name = policyName(s.Policy.Ref)
	for _, x := range s.Seats {
		p.join(x.Participant)
	}
	if t := s.Turn; t != nil {
		p.turn = granted{number: t.Number, who: t.Participant, tokens: t.Tokens}
	}
	for _, c := range s.Calls {
		p.keepCall(c)
	}
	spec := s.Spec
	spec.Limits = s.Limits
	return p.title(spec)
}

// recallDraft returns the lines of the waiting draft, or "".
func (p *Printer) recallDraft(s *room.State) string {
	t := s.Turn
	if t == nil || t.Draft == nil {
		return ""
	}
	d := t.Draft
	return p.drafted(room.TurnDrafted{Turn: t.Number, Draft: d.Hash, Message: d.Message, Usage: d.Usage, Latency: d.Latency, Why: d.Why})
}
