package roomcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// newRmCmd removes rooms from the log.
func newRmCmd(a *commands) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm [ROOM...]",
		Short: "Remove rooms with everything that was said in them",
		Long: "rm removes rooms from the data folder for good. It asks first, unless --yes is\n" +
			"given; a room that is being run is refused. Without arguments it lists the rooms.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.Join(a.ls(cmd.Context()), app.Usagef(cmd, "no room is named; these are the rooms"))
			}
			if !yes && !a.Interactive() {
				return app.Usagef(cmd, "there is no terminal to ask in; give --yes to remove %s", strings.Join(args, ", "))
			}
			return a.rm(cmd.Context(), args, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// rm removes what it can and reports the rest.
func (a *commands) rm(ctx context.Context, ids []string, yes bool) error {
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	answers := bufio.NewScanner(a.Stdin)
	var failed error
	for _, id := range ids {
		s, err := app.FoldRoom(ctx, db, id)
		if err != nil && !errors.Is(err, log.ErrCorrupt) { // a damaged room can be removed all the same
			failed = errors.Join(failed, err)
			continue
		}
		if !yes && !a.agreed(answers, id, s.Tally.Turns) {
			a.Note("%s stays", id)
			continue
		}
		if err := remove(ctx, db, id); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		a.Note("%s is removed", id)
	}
	return failed
}

// agreed asks on the terminal.
func (a *commands) agreed(answers *bufio.Scanner, id string, turns int) bool {
	fmt.Fprintf(a.Stderr, "Remove %s with its %s for good? [y/N] ", id, app.Count(turns, "turn"))
	return answers.Scan() && strings.HasPrefix(strings.ToLower(strings.TrimSpace(answers.Text())), "y")
}

// remove locks the room first, so that no other process is running it.
func remove(ctx context.Context, l app.RoomLog, id string) error {
	unlock, err := l.Lock(ctx, id)
	if errors.Is(err, log.ErrLocked) {
		what := err.Error()
		if p, ok := errors.AsType[*problem.Error](err); ok {
			what = p.What
		}
		return &problem.Error{Code: "ROOM-LOCKED", What: what + "; it is not removed", Fix: "end that process first", Kind: log.ErrLocked}
	}
	if err != nil {
		return err
	}
	defer unlock()
	return l.Remove(ctx, id)
}
