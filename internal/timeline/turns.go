package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// message shows a message with its sender, the reason of the grant, the latency
// and the approval.
func (p *Printer) message(e room.Event, b room.MessagePosted) string {
	m := b.Message
	facts := []string{p.kind(m.From)}
	if m.To != "" && m.To != room.Broadcast {
		facts = append(facts, "to "+p.label(m.To))
	}
	switch {
	case m.FromSession != "":
		facts = append(facts, "of session "+term.Line(m.FromSession))
	case m.Source == room.SourceApplet || m.Source == room.SourceAgent && b.Turn == 0 && m.From == room.ActorHost:
		facts = append(facts, "by an "+m.Source)
	}
	if b.Latency > 0 {
		facts = append(facts, human.Duration(b.Latency))
	}
	mine := b.Turn != 0 && b.Turn == p.turn.number
	if mine && m.By == "" {
		facts = append(facts, p.used(b.Usage, m.Text)...)
	}
	if n := m.ToolRounds; n > 0 {
		facts = append(facts, fmt.Sprintf("by its own word %d tool rounds", n))
	}
	if m.Cut {
		facts = append(facts, "cut short")
	}
	facts = append(append(facts, p.typed(b)...), p.sent(b, mine)...)
	if m.Visibility != "" && m.Visibility != room.UserVisible {
		facts = append(facts, string(m.Visibility))
	}
	out := p.header("", b.Turn, m.From, facts)
	if mine {
		out += p.why(p.turn.reason)
		p.turn = granted{}
	}
	return out + p.tools(m) + p.content(m) + "\n"
}

// tools returns the tool calls of a message on one line, which the terminal cuts.
func (p *Printer) tools(m room.Message) string {
	if len(m.Tools) == 0 {
		return ""
	}
	var calls []string
	for _, c := range m.Tools {
		calls = append(calls, c.String())
	}
	line := fmt.Sprintf("tool calls (%d): %s", len(m.Tools)+m.ToolsMore, strings.Join(calls, "; "))
	return "  " + p.paint(dim, clip(line, p.width()-2)) + "\n"
}

// modeChanged shows how a seat is reviewed from now on.
func (p *Printer) modeChanged(e room.Event, b room.ModeChanged) string {
	who, by := p.label(b.Participant), p.by(e.Actor)+from(e)
	switch b.Mode {
	case "":
		return p.notice("", who+" is reviewed as in room.yaml again"+by)
	case room.FullAuto:
		return p.notice(yellow, who+" is sent without approval until the room ends: full_auto"+by)
	}
	return p.notice("", who+" is reviewed until the room ends: "+string(b.Mode)+by)
}

// from returns how a person gave the command that caused e, unless it was in a
// terminal that shows the room.
func from(e room.Event) string {
	if e.Via == "" || e.Via == ViaTerminal {
		return ""
	}
	return " (" + term.Line(e.Via) + ")"
}

// sent describes how a message was sent.
func (p *Printer) sent(b room.MessagePosted, mine bool) []string {
	switch {
	case b.Message.By != "":
		return []string{"typed" + p.by(b.Message.By)}
	case !mine:
		return nil
	case p.edited != "" && p.approved != "":
		return []string{"edited" + p.edited, "approved" + p.approved}
	case p.approved != "":
		return []string{"approved" + p.approved}
	case b.Auto:
		return []string{"sent automatically"}
	}
	return nil
}

// used returns the tokens of a turn, and its cost if the agent states it. A ~ marks an
// estimate, for agents that report no usage.
func (p *Printer) used(u room.Usage, text string) []string {
	if u == (room.Usage{}) {
		u = p.turn.usage
	}
	facts := stated(u)
	if !u.Known || len(facts) == 0 {
		facts = slices.Insert(facts, 0, human.Tokens(p.turn.tokens+int64(len(text)+3)/4, 0, 0, true, thousands))
	}
	return facts
}

// stated returns what an agent has stated of a turn. The room believes nothing that
// is out of range.
func stated(u room.Usage) (facts []string) {
	if u.OutOfRange() != "" {
		return nil
	}
	if u.Known {
		facts = append(facts, human.Tokens(u.Input+u.Output, u.CachedInput, u.Reasoning, false, thousands))
	}
	if u.CostKnown {
		facts = append(facts, "cost "+human.Money(u.Cost))
	}
	return facts
}

// header returns the first line of a turn or message after label. It is wrapped
// if the terminal is narrow.
func (p *Printer) header(label string, turn int, who string, facts []string) string {
	number := ""
	if turn > 0 {
		number = fmt.Sprintf("#%d ", turn)
	}
	rest := ""
	for _, f := range facts {
		rest += " · " + term.Line(f)
	}
	first := p.paint(yellow, label) + p.paint(dim, number) + p.speaker(who)
	if columns(label+number+p.label(who)+rest) <= p.width() {
		return first + p.paint(dim, rest) + "\n"
	}
	var b strings.Builder
	b.WriteString(first + "\n")
	for _, line := range wrap(strings.TrimPrefix(rest, " · "), p.width()-2) {
		b.WriteString("  " + p.paint(dim, line) + "\n")
	}
	return b.String()
}

// why returns the reason of the policy for its choice.
func (p *Printer) why(reason string) string {
	if reason == "" {
		return ""
	}
	return p.hang(dim, "  why: ", reason)
}

func (p *Printer) drafted(b room.TurnDrafted) string {
	p.turn.usage = b.Usage
	facts := []string{p.kind(b.Message.From)}
	if b.Latency > 0 {
		facts = append(facts, human.Duration(b.Latency))
	}
	facts = append(append(facts, p.used(b.Usage, b.Message.Text)...), "waits for approval ("+b.Why+")")
	return p.header("DRAFT ", b.Turn, b.Message.From, facts) + p.why(p.turn.reason) + p.unsaid(b.Message.Text) + "\n"
}

// unsaid returns a text with a bar before each line, because it is not sent yet.
func (p *Printer) unsaid(text string) string {
	const bar = "  │"
	var b strings.Builder
	for line := range strings.Lines(p.body(text, bar+" ")) {
		b.WriteString(p.paint(yellow, bar) + strings.TrimPrefix(line, bar))
	}
	return b.String()
}

// outcome shows a turn that ended without a message.
func (p *Printer) outcome(turn int, what, code string, u room.Usage) string {
	who, why := p.turn.who, p.turn.reason
	p.turn = granted{}
	out := p.header("", turn, who, append([]string{p.kind(who)}, stated(u)...)) + p.why(why)
	for line := range strings.Lines(p.body(term.Line(what), "  ")) {
		out += p.paint(cmp.Or(code, dim), strings.TrimSuffix(line, "\n")) + "\n"
	}
	return out + "\n"
}

// declined shows a declined round. Repetitions get a shorter text.
func (p *Printer) declined(b room.RoundDeclined) string {
	p.declines++
	text := "round declined: " + term.Line(b.Reason) + " (" + p.name + ")"
	if p.declines > 1 {
		text = fmt.Sprintf("declined again, %d rounds in a row: %s", p.declines, term.Line(b.Reason))
	}
	return p.notice("", text)
}

// ending shows the end or the start of a live phase.
func (p *Printer) ending(e room.Event) string {
	switch b := e.Body.(type) {
	case room.Paused:
		if b.Cause == room.CausePolicy {
			return p.mark(red, "‖ paused: "+b.Reason+codeOf(b.Code))
		}
		return p.mark(yellow, "‖ "+p.byWhom("paused", e.Actor, b.Reason))
	case room.Resumed:
		return p.mark(green, "▶ resumed"+p.by(e.Actor))
	case room.Stopped:
		if b.Cause == room.CausePerson {
			return p.mark(yellow, "■ "+p.byWhom("stopped", e.Actor, b.Reason))
		}
		return p.mark(yellow, "■ stopped: "+b.Reason)
	case room.Completed:
		if b.Degraded {
			return p.mark(yellow, "! settled, degraded: "+b.Reason)
		}
		if b.Cause == room.CauseSettled {
			return p.mark(green, "✓ settled: "+b.Reason)
		}
		if b.Cause == room.CausePerson {
			return p.mark(green, "✓ "+p.byWhom("completed", e.Actor, b.Reason))
		}
		return p.mark(green, "✓ completed: "+b.Reason)
	case room.Errored:
		return p.mark(red, "✗ error: "+b.Reason+codeOf(b.Code))
	}
	return ""
}

// byWhom describes the end of a live phase by the actor and the reason, unless
// the reason only repeats the actor.
func (p *Printer) byWhom(what, actor, reason string) string {
	if reason == "" || reason == what+" by "+actor {
		return what + p.by(actor)
	}
	return what + p.by(actor) + ": " + reason
}

func codeOf(code string) string {
	if code == "" {
		return ""
	}
	return "   [" + code + "]"
}

func (p *Printer) mark(code, text string) string {
	var b strings.Builder
	for i, line := range wrap(term.Line(text), p.width()-2) {
		if i > 0 {
			line = "  " + line
		}
		b.WriteString(p.paint(code, line) + "\n")
	}
	return b.String() + "\n"
}
