package roomcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cluster"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/roomlist"
	"github.com/folkmoot/moot/room/log"
)

// newLsCmd lists the rooms of the data folder.
func newLsCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the rooms of the data folder, the newest last",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.ls(cmd.Context()) },
	}
	app.AllowServer(cmd)
	return cmd
}

func (a *commands) ls(ctx context.Context) error {
	briefs, err := a.briefs(ctx)
	if err != nil && len(briefs) == 0 {
		return err
	}
	// A room that is damaged does not hide the others; it is named after them.
	return errors.Join(a.Emit(briefs, func(w io.Writer) error { return a.printBriefs(w, briefs) }), err)
}

func (a *commands) briefs(ctx context.Context) ([]api.RoomBrief, error) {
	if a.Remote() {
		return a.remoteBriefs(ctx)
	}
	db, err := a.Wiring().OpenLog(true)
	if errors.Is(err, log.ErrNotFound) {
		return []api.RoomBrief{}, nil // nothing was ever run here
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	node, err := cluster.Locator(ctx, db, moot.DeviceOf(db))
	if err != nil {
		return nil, err
	}
	return roomlist.Of(ctx, db, local.DaemonPID(a.Settings.Data), node)
}

func (a *commands) printBriefs(w io.Writer, briefs []api.RoomBrief) error {
	if len(briefs) == 0 {
		a.Note("no rooms in %s; `moot demo` runs one", a.Place())
		return nil
	}
	rows := make([][]string, len(briefs))
	for i, b := range briefs {
		phase := b.Phase
		switch {
		case b.Node != "":
			phase += " (node " + b.Node + ")"
		case b.Process != 0:
			phase += fmt.Sprintf(" (process %d)", b.Process)
		}
		updated := "-" // of a room that is not in the database any more
		if !b.Updated.IsZero() {
			updated = b.Updated.Local().Format("2006-01-02 15:04")
		}
		rows[i] = []string{b.Room, b.Name, phase, strconv.Itoa(b.Turns), updated, bytesOf(b.Bytes), cutRunes(b.Ending, 50)}
	}
	return app.Table(w, []string{"ROOM", "NAME", "PHASE", "TURNS", "UPDATED", "SIZE", "WHY"}, rows)
}

// bytesOf is a size as people read it.
func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// cutRunes is s, at most n characters of it.
func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
