package roomcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/human"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/roomlist"
	"github.com/folkmoot/moot/internal/sight"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/budget"
	"github.com/folkmoot/moot/room/log"
)

// newShowCmd shows one room of the log.
func newShowCmd(a *commands) *cobra.Command {
	var turn, last int
	cmd := &cobra.Command{
		Use:   "show ROOM",
		Short: "Show a room: its roster, counts and last events, or what an agent saw at a turn",
		Long: "show prints how a room stands, from its log. With --turn it prints what the agent\n" +
			"that had the turn was handed: which messages whole, which as one line, which were\n" +
			"left out, and the prompt: the bytes that were sent. They are made again from the\n" +
			"log and compared with the digest that was recorded before they left. It lists what\n" +
			"the agent asked of its owner in that turn, with the answers.\n\n" +
			"ROOM is the id of a room, the beginning of its id, or its name.",
		Example:           "  moot show r_01k5...\n  moot show r_01k5... --turn 3",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.FindRoom(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("turn"):
				return a.showTurn(cmd.Context(), id, turn)
			case a.Remote():
				return a.showRemote(cmd.Context(), id, last)
			}
			return a.show(cmd.Context(), id, last)
		},
	}
	app.AllowServer(cmd)
	app.Formats(cmd, app.FormatTable, app.FormatJSON)
	cmd.Flags().IntVar(&turn, "turn", 0, "what the agent saw at this turn")
	cmd.Flags().IntVar(&last, "last", 10, "how many events to show")
	return cmd
}

// A standing is the result of `moot show`.
type standing struct {
	room.View
	Process  int               `json:"process,omitempty"` // that runs the room now
	InForce  room.PolicyRef    `json:"policy_in_force"`
	Notes    []string          `json:"notes,omitempty"` // who can read the room apart from its devices
	Events   []json.RawMessage `json:"last_events"`
	Timeline []string          `json:"-"`
}

func (a *commands) show(ctx context.Context, id string, last int) error {
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := app.FoldRoom(ctx, db, id)
	if err != nil {
		return err
	}
	var out standing
	events, err := a.lastEvents(ctx, db, id, s, last, &out)
	if err != nil {
		return err
	}
	out.View, out.Process, out.InForce = s.View(room.Internal), db.Holder(id), s.Policy.Ref
	if out.Process == 0 && out.Phase == room.PhaseLive {
		out.Process = local.DaemonPID(a.Settings.Data) // it has unloaded the room
	}
	for _, x := range s.Seats {
		out.Notes = appendNote(out.Notes, x.Participant)
	}
	if out.Events, err = encoded(events); err != nil {
		return err
	}
	return a.Emit(out, func(w io.Writer) error { return a.printStanding(w, out) })
}

// shownEvents is how many events are read for each that is shown: some have no
// line of their own.
const shownEvents = 50

// lastEvents returns the last events of a room and fills in their timeline. Of a
// long room it reads the end only.
func (a *commands) lastEvents(ctx context.Context, db app.RoomLog, id string, s *room.State, last int, out *standing) (events []room.Event, err error) {
	p := a.Printer()
	at := log.At(max(0, s.Seq-int64(shownEvents*(max(0, last)+10))))
	if at.Seq > 0 {
		p.Recall(s) // names and colours
	}
	for e, err := range log.Scan(ctx, db, id, at) {
		if err != nil {
			return nil, err
		}
		if text := p.Event(e.Event); text != "" {
			out.Timeline = app.KeepLast(append(out.Timeline, text), last)
		}
		events = app.KeepLast(append(events, e.Event), last)
	}
	return events, nil
}

func encoded(events []room.Event) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(events))
	for i, e := range events {
		b, err := room.MarshalEvent(app.Secretless(e))
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

func (a *commands) printStanding(w io.Writer, v standing) error {
	phase := string(v.Phase)
	if v.Ending.Reason != "" {
		phase += ": " + v.Ending.Reason
	}
	if v.Process != 0 {
		phase += fmt.Sprintf(" (run by process %d)", v.Process)
	} else if v.Phase == room.PhaseLive {
		phase = roomlist.Interrupted + ": its host ended; `moot run --room " + v.Room + "` goes on"
	}
	digest := v.InForce.Digest
	facts := [][]string{
		{"room", strings.TrimSpace(v.Room + "  " + v.Name)},
		{"objective", v.Objective},
		{"phase", phase},
		{"policy", fmt.Sprintf("%s %s, digest %s", v.InForce.Name, v.InForce.Version, digest[:min(12, len(digest))])},
		{"turns", fmt.Sprintf("%d of %d", v.Turn, v.Limits.MaxTurns)},
		{"time", human.Duration(v.Clock) + " of " + human.Duration(v.Limits.MaxDuration)},
		{"used", used(v.Tally)},
		{"events", fmt.Sprintf("%d, %s in %s", v.Seq, app.Count(v.Tally.Declined, "declined round"), app.Count(v.Turn, "turn"))},
	}
	if err := app.Table(w, facts[0], facts[1:]); err != nil {
		return err
	}
	if err := a.printRoster(w, v); err != nil {
		return err
	}
	if err := printPlan(w, app.Width(a.Stdout), v.View); err != nil {
		return err
	}
	printNotes(w, v.Notes)
	_, err := io.WriteString(w, "\n"+strings.Join(v.Timeline, ""))
	return err
}

// used says what a room has used so far.
func used(t room.Tally) string {
	text := human.Tokens(t.Tokens, t.CachedInput, t.Reasoning, t.Estimated, nil)
	if t.Cost > 0 {
		text += ", cost " + human.Rough(human.Money(t.Cost), t.CostEstimated)
	}
	return text
}

func (a *commands) printRoster(w io.Writer, v standing) error {
	head := []string{"WHO", "KIND", "PHASE", "TURNS", "FAILURES", "LATENCY", "TOKENS", "ROLE"}
	if v.Tally.Cost > 0 {
		head = slices.Insert(head, 7, "COST")
	}
	rows := make([][]string, len(v.Seats))
	for i, x := range v.Seats {
		phase := x.Phase
		if x.Cooling > 0 {
			phase += fmt.Sprintf(" (%d turns left)", x.Cooling)
		}
		if x.Why != "" {
			phase += ": " + x.Why
		}
		rows[i] = []string{
			x.ID, x.Kind, cutRunes(phase, 40) + x.SetMode(), strconv.Itoa(x.Turns), strconv.Itoa(x.Failures),
			human.Duration(x.Latency), human.Rough(strconv.FormatInt(x.Tokens, 10), x.Estimated), cutRunes(x.Role, 40),
		}
		if v.Tally.Cost > 0 {
			rows[i] = slices.Insert(rows[i], 7, human.Rough(human.Money(x.Cost), x.CostEstimated))
		}
	}
	fmt.Fprint(w, "\n")
	if err := app.Table(w, head, rows); err != nil {
		return err
	}
	for _, x := range v.Seats {
		for _, m := range x.Budget {
			line := x.ID + " has used " + m.Text()
			if m.Level == budget.Used && !m.Until.IsZero() {
				line += "; it may have a turn from " + m.Until.Local().Format("Jan 2 15:04:05")
			}
			fmt.Fprintln(w, line)
		}
	}
	return nil
}

// showTurn shows what an agent was handed at a turn. A prompt that is not what was
// recorded is an error, unless something was redacted since.
func (a *commands) showTurn(ctx context.Context, id string, turn int) error {
	s, err := a.sight(ctx, id, turn)
	if err != nil {
		return err
	}
	if err := a.Emit(s, func(w io.Writer) error { return a.printSight(w, s) }); err != nil {
		return err
	}
	return s.Check()
}

// sight reads what an agent was handed from the log, or from the server that --server
// names.
func (a *commands) sight(ctx context.Context, id string, turn int) (sight.Sight, error) {
	if a.Remote() {
		return a.remoteSight(ctx, id, turn)
	}
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return sight.Sight{}, err
	}
	defer db.Close()
	s, err := sight.Of(ctx, db, id, turn)
	return s, app.UnknownRoom(id, err)
}

// requests returns events about permissions as text.
func (a *commands) requests(events []room.Event) string {
	p := a.Printer()
	var b strings.Builder
	for _, e := range events {
		b.WriteString(p.Event(e))
	}
	return b.String()
}

func (a *commands) printSight(w io.Writer, s sight.Sight) error {
	verdict := a.Paint(a.Stdout, app.StyleGood, "as recorded")
	switch {
	case s.Recorded == "":
		verdict = a.Paint(a.Stdout, app.StyleWarn, "never sent: an earlier version of moot sent the parts without a text")
	case s.Recorded != s.Rebuilt && s.Redacted > 0:
		verdict = a.Paint(a.Stdout, app.StyleWarn, fmt.Sprintf("not as recorded (%s): %s since", s.Recorded, app.Count(s.Redacted, "redaction")))
	case s.Recorded != s.Rebuilt:
		verdict = a.Paint(a.Stdout, app.StyleError, "not as recorded: "+s.Recorded)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "turn %d of %s, %s\n", s.Turn, term.Line(s.Room), term.Line(s.Participant))
	if s.Reason != "" {
		fmt.Fprintf(&b, "why      %s\n", term.Line(s.Reason))
	}
	if x := s.Exploration; x != nil {
		fmt.Fprintf(&b, "drawn    with probability %.1f %%\n", 100*x.Propensity)
	}
	known := "it remembers what is up to event " + fmt.Sprint(s.Window.After)
	if s.Window.Full {
		known = "it remembers nothing"
	}
	fmt.Fprintf(&b, "window   up to event %d; %s; ~%d tokens\n", s.Window.Through, known, s.Tokens)
	fmt.Fprintf(&b, "  whole      %s\n  one line   %s\n  left out   %s\n", spans(s.Window.Verbatim), spans(s.Window.Lines), omissions(s.Window.Omitted))
	if u := s.Usage; u.Known {
		fmt.Fprintf(&b, "used     %d tokens in, %d cached; %d out, %d reasoning\n", u.Input, u.CachedInput, u.Output, u.Reasoning)
	}
	if s.Usage.CostKnown {
		fmt.Fprintf(&b, "cost     %s US dollars, as the agent says\n", human.Money(s.Usage.Cost))
	}
	fmt.Fprintf(&b, "prompt   SHA-256 %s, %s\n", s.Rebuilt, verdict)
	if s.Remote {
		b.WriteString("         another device has this agent: it got these parts, quoted by that device\n")
	}
	if s.Instructions != "" {
		fmt.Fprintf(&b, "\ninstructions, which are no part of the prompt:\n%s\n", s.Instructions)
	}
	if asked := a.requests(s.Asked); asked != "" {
		b.WriteString("\n" + strings.TrimSuffix(asked, "\n"))
	}
	b.WriteString("\n" + s.Prompt) // both cleaned when it was rendered: the bytes that were sent
	_, err := io.WriteString(w, b.String())
	return err
}

func spans(list []room.Span) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = fmt.Sprintf("events %d to %d", s.From, s.To)
	}
	return strings.Join(parts, ", ")
}

func omissions(list []room.Omission) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, o := range list {
		by := make([]string, len(o.By))
		for j, c := range o.By {
			by[j] = fmt.Sprintf("%s %d", term.Line(c.From), c.Messages)
		}
		parts[i] = fmt.Sprintf("%s in events %d to %d (%s)", app.Count(o.Messages, "message"), o.From, o.To, strings.Join(by, ", "))
	}
	return strings.Join(parts, ", ")
}
