package seatcmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/room"
)

// newAwaitCmd awaits the turn of a seat.
func newAwaitCmd(a *commands) *cobra.Command {
	var seat string
	var wait time.Duration
	var fresh, paste bool
	cmd := &cobra.Command{
		Use:   "await ROOM --as SEAT",
		Short: "Await the turn of a seat that your agent session has",
		Long: "await waits until it is the turn of your seat, prints the prompt and says how to\n" +
			"answer. It holds the seat: without a further await the seat is away after 60 s, and\n" +
			"gets no turn. While a turn waits for its answer, each await prints it again.\n\n" +
			"Exit code 0: a prompt. 9: not your turn yet, await again. 10: the room has ended,\n" +
			"do not await again. -o json says the same: turn, again or ended is true.\n\n" +
			"--paste is for apps that cannot run commands: await waits for the turn, prints the\n" +
			"prompt as a block to paste into the app, and reads the answer that you paste back,\n" +
			"up to a line with a single dot or the end of the input. At a terminal it is the\n" +
			"default.",
		Example:           "  moot await review --as ann\n  moot await review --as ann --wait 5m -o json\n  moot await review --as ann --paste",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait < 0 {
				return app.Usagef(cmd, "--wait is negative")
			}
			if !cmd.Flags().Changed("paste") {
				paste = a.Format == app.FormatTable && a.Interactive() && app.IsTerminal(a.Stdout)
			}
			if paste && !cmd.Flags().Changed("wait") {
				wait = wholeDay
			}
			h, err := a.hold(cmd.Context(), args[0], seat)
			if err != nil {
				return err
			}
			defer h.Close()
			turn, err := a.await(cmd.Context(), h, wait, fresh)
			if err != nil {
				return err
			}
			if paste && turn.Turn {
				return a.paste(cmd.Context(), h, turn)
			}
			return a.told(h, turn)
		},
	}
	seatFlag(cmd, &seat)
	app.Formats(cmd, app.FormatTable, app.FormatJSON)
	cmd.Flags().DurationVar(&wait, "wait", api.DefaultWait, "how long to wait for the turn")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "your session remembers nothing of the room: its next prompt has the whole history")
	cmd.Flags().BoolVar(&paste, "paste", false, "print a block to paste into an app, and read the answer that you paste back")
	return cmd
}

// Take awaits the turn of a seat that this device was invited to: at a terminal turn
// after turn, until the room has ended, else once, as await does.
func Take(ctx context.Context, a *app.App, client *client.Client, room, seat string) error {
	c := &commands{a}
	h := &holder{client, room, seat, func() {}}
	a.Note("you have the seat %s of room %s; end with Ctrl-C, and go on with: %s", term.Line(seat), term.Line(room), a.CommandLine("await", room, "--as", seat))
	if !a.Interactive() || !app.IsTerminal(a.Stdout) {
		turn, err := c.await(ctx, h, api.DefaultWait, false)
		if err != nil {
			return err
		}
		return c.told(h, turn)
	}
	for {
		turn, err := c.await(ctx, h, wholeDay, false)
		switch {
		case err != nil:
			return err
		case !turn.Turn:
			return c.told(h, turn)
		}
		if err := c.paste(ctx, h, turn); err != nil {
			return err
		}
	}
}

// wholeDay is how long a person waits, who ends it with Ctrl-C.
const wholeDay = 24 * time.Hour

// await awaits the turn of the seat. The end of the room may be that of its process:
// then the log says it.
func (a *commands) await(ctx context.Context, h *holder, wait time.Duration, fresh bool) (api.Turn, error) {
	turn, err := h.await(ctx, wait, fresh)
	if err == nil || a.Remote() {
		return turn, err
	}
	db, opened := a.ReadLog()
	if opened != nil {
		return turn, err
	}
	defer db.Close()
	s, folded := app.FoldRoom(ctx, db, h.Room)
	if folded != nil || s.Phase == room.PhaseLive || s.Phase == room.PhasePaused {
		return turn, err
	}
	return api.Turn{Ended: true, Why: "the room is " + string(s.Phase) + ": " + s.Ending.Reason}, nil
}

// await awaits the turn of the seat for that time, in calls that the server allows.
func (h *holder) await(ctx context.Context, wait time.Duration, fresh bool) (turn api.Turn, err error) {
	for until := time.Now().Add(wait); ; fresh = false {
		left := max(0, time.Until(until))
		in := api.Await{Wait: min(left, api.MaxWait).Round(time.Millisecond).String(), Fresh: fresh}
		turn = api.Turn{}
		if err := h.post(ctx, "await", in, &turn); err != nil || !turn.Again || left <= api.MaxWait {
			return turn, err
		}
	}
}

// told prints what an await has brought, and ends with the exit code of it.
func (a *commands) told(h *holder, turn api.Turn) error {
	err := a.Emit(turn, func(w io.Writer) error { return a.printTurn(w, h, turn) })
	switch {
	case err != nil:
		return err
	case turn.Again:
		return app.ExitWith(app.ExitAgain, nil)
	case turn.Ended:
		return app.ExitWith(app.ExitOver, nil)
	}
	return nil
}

// printTurn prints what an await has brought, and what the agent does next.
func (a *commands) printTurn(w io.Writer, h *holder, turn api.Turn) error {
	var err error
	switch {
	case turn.Again:
		why := ""
		if turn.Why != "" {
			why = ", as far as is known: " + term.Line(turn.Why)
		}
		_, err = fmt.Fprintf(w, "It is not your turn yet%s. Ask again: %s\n", why, a.CommandLine("await", h.Room, "--as", h.Seat))
	case turn.Ended:
		_, err = fmt.Fprintf(w, "%s. Do not await again.\n", term.Line(turn.Why))
	default:
		_, err = io.WriteString(w, a.whole(turn))
	}
	return err
}

// whole is a turn as an agent with a shell needs it.
func (a *commands) whole(turn api.Turn) string {
	request := []string{turn.Room, "--as", turn.Seat, "--request", turn.Request}
	return heading(turn) + "\n\n" + strings.TrimRight(term.Strip(turn.Text), "\n") + "\n\n" +
		"Answer once, with the text on standard input:\n  " + a.CommandLine(append([]string{"answer"}, request...)...) + " - <<'END'\n  ...\n  END\n" +
		"If you have nothing to add:\n  " + a.CommandLine(append([]string{"pass"}, request...)...) + "\n" +
		"Then await the next turn:\n  " + a.CommandLine("await", turn.Room, "--as", turn.Seat) + "\n"
}

// heading says whose turn it is and until when.
func heading(turn api.Turn) string {
	return fmt.Sprintf("It is the turn of %s in room %s (turn %d). The answer is due by %s.",
		turn.Seat, turn.Room, turn.Number, turn.Deadline.Local().Format("15:04:05"))
}
