package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/transfer"
)

func newLogCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "Move rooms between a data folder and servers", Args: cobra.NoArgs}
	cmd.AddCommand(newLogCopyCmd(a))
	return cmd
}

func newLogCopyCmd(a *commands) *cobra.Command {
	var move bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy all rooms from one data folder or log server into another",
		Long: "copy stores the rooms of FROM in TO: their events with their chain of hashes, stubs\n" +
			"of redacted events, the time at which they go on, policies, and what agents have\n" +
			"used of their budgets. FROM and TO are each a data folder or the URL of a log on\n" +
			"servers, as the setting log.url has it. Each copy is read again and compared. A\n" +
			"room is stored whole or not at all: run copy again after an interruption. A room\n" +
			"that TO has with the same chain is left alone; one that differs is named, and\n" +
			"nothing of it is changed. A room that a process uses is named and not copied.\n\n" +
			"End the processes that run rooms of FROM first: a room that goes on in both logs\n" +
			"becomes two rooms. --move removes each room from FROM after its copy was compared.\n" +
			"Keys, peers, tokens and the host log stay in the data folder.",
		Example: "  moot log copy ~/.local/share/moot postgres://moot@db.example.org/moot --move\n" +
			"  moot log copy nats://one:4222,two:4222 /srv/rooms",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.copyLog(cmd.Context(), args[0], args[1], move) },
	}
	cmd.Flags().BoolVar(&move, "move", false, "remove each room from FROM when its copy was compared")
	return cmd
}

// A copiedLog is the result of `moot log copy`.
type copiedLog struct {
	From string `json:"from"`
	To   string `json:"to"`
	transfer.Result
}

func (a *commands) copyLog(ctx context.Context, from, to string, move bool) error {
	probe, err := a.openLogAt(from, true) // does not make one
	if err != nil {
		return err
	}
	if err := probe.Close(); err != nil {
		return err
	}
	source, err := a.openLogAt(from, false)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := a.openLogAt(to, false)
	if err != nil {
		return err
	}
	defer target.Close()
	progress := a.Progress("rooms")
	done := copiedLog{From: config.HidePassword(from), To: config.HidePassword(to)}
	done.Result, err = transfer.Run(ctx, transfer.Config{From: source, To: target, Move: move, Progress: progress.Reach})
	progress.End()
	return errors.Join(err, a.Emit(done, done.text), done.Err())
}

// openLogAt opens the log in a data folder or at a URL.
func (a *commands) openLogAt(place string, readOnly bool) (app.RoomLog, error) {
	w := a.Wiring()
	if strings.Contains(place, "://") {
		w.Settings.LogURL = place
	} else {
		w.Settings.Data, w.Settings.LogURL = place, ""
	}
	return w.OpenLog(readOnly)
}

// text tells what was copied, and which rooms were not.
func (c *copiedLog) text(w io.Writer) error {
	copied, events := c.Count(transfer.Copied)
	present, _ := c.Count(transfer.Present)
	fmt.Fprintf(w, "%s: %s copied, %s; already there: %s\n", c.To, app.Count(copied, "room"), app.Count(events, "event"), app.Count(present, "room"))
	fmt.Fprintf(w, "new there: %s and %s of agents\n", app.Count(c.Blobs, "policy module"), app.Count(c.Charges, "charge"))
	removed := 0
	for _, r := range c.Rooms {
		if r.Removed {
			removed++
		}
		if r.Problem != "" {
			fmt.Fprintf(w, "not copied: %s: %s\n", r.Room, r.Problem)
		}
	}
	if removed > 0 {
		fmt.Fprintf(w, "%s: %s removed\n", c.From, app.Count(removed, "room"))
	}
	return nil
}
