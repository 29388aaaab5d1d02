package roomcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// newShowCmd shows one room of the log.
func newShowCmd(a *commands) *cobra.Command {
	var turn, last int
	cmd := &cobra.Command{
		Use:   "show ROOM",
		Short: "Show a room: its roster, counts and last events, or what an agent saw at a turn",
		Long: "show prints how a room stands, from its log. With --turn it prints what the agent\n" +
			"that had the turn was handed: which messages whole, which as one line, which were\n" +
			"left out, and the prompt, made again from the log and compared with the digest\n" +
			"that was recorded before it left.",
		Example: "  moot show r_01k5...\n  moot show r_01k5... --turn 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("turn") {
				return a.showTurn(cmd.Context(), args[0], turn)
			}
			return a.show(cmd.Context(), args[0], last)
		},
	}
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
	Events   []json.RawMessage `json:"last_events"`
	Timeline []string          `json:"-"`
}

func (a *commands) show(ctx context.Context, id string, last int) error {
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return err
	}
	defer db.Close()
	s, p := &room.State{}, a.Printer()
	var out standing
	var events []room.Event
	err = app.EachEvent(ctx, db, id, func(e room.Event) error {
		s.Apply(e)
		if text := p.Event(e); text != "" {
			out.Timeline = app.KeepLast(append(out.Timeline, text), last)
		}
		events = app.KeepLast(append(events, e), last)
		return nil
	})
	if err != nil {
		return err
	}
	out.View, out.Process, out.InForce = s.View(room.Internal), db.Holder(id), s.Policy.Ref
	if out.Events, err = encoded(events); err != nil {
		return err
	}
	return a.Emit(out, func(w io.Writer) error { return a.printStanding(w, out) })
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
		phase = PhaseInterrupted + ": its host ended; `moot run --room " + v.Room + "` goes on"
	}
	digest := v.InForce.Digest
	facts := [][]string{
		{"room", strings.TrimSpace(v.Room + "  " + v.Name)},
		{"objective", v.Objective},
		{"phase", phase},
		{"policy", fmt.Sprintf("%s %s, digest %s", v.InForce.Name, v.InForce.Version, digest[:min(12, len(digest))])},
		{"turns", fmt.Sprintf("%d of %d", v.Turn, v.Limits.MaxTurns)},
		{"time", fmt.Sprintf("%s of %s", v.Clock.Round(time.Millisecond), v.Limits.MaxDuration)},
		{"tokens", fmt.Sprintf("about %d", v.Tally.Tokens)},
		{"events", fmt.Sprintf("%d, %s in %s", v.Seq, app.Count(v.Tally.Declined, "declined round"), app.Count(v.Turn, "turn"))},
	}
	if err := app.Table(w, facts[0], facts[1:]); err != nil {
		return err
	}
	if err := a.printRoster(w, v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+strings.Join(v.Timeline, ""))
	return err
}

func (a *commands) printRoster(w io.Writer, v standing) error {
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
			x.ID, x.Kind, cutRunes(phase, 40), strconv.Itoa(x.Turns), strconv.Itoa(x.Failures),
			x.Latency.Round(time.Millisecond).String(), "~" + strconv.FormatInt(x.Tokens, 10), cutRunes(x.Role, 40),
		}
	}
	fmt.Fprint(w, "\n")
	return app.Table(w, []string{"WHO", "KIND", "PHASE", "TURNS", "FAILURES", "LATENCY", "TOKENS", "ROLE"}, rows)
}
