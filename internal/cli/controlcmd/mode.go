package controlcmd

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// defaultMode is the word for the mode that the room's file gives a seat.
const defaultMode = "default"

// modeNames are the modes that newModeCmd takes.
var modeNames = []string{string(room.Manual), string(room.SemiAuto), string(room.FullAuto), defaultMode}

// newModeCmd changes how an agent is reviewed.
func newModeCmd(a *commands) *cobra.Command {
	var s sender
	complete := a.CompleteRoom(app.CompleteSeats)
	cmd := &cobra.Command{
		Use:   "mode ROOM AGENT manual|semi_auto|full_auto|default",
		Short: "Change whether an agent's drafts wait for approval, in a room that runs",
		Long: "mode changes how an agent is reviewed until the room ends: every draft waits with\n" +
			"manual, some do with semi_auto, and none does with full_auto. default is the mode of\n" +
			"room.yaml again. A draft that waits already keeps waiting.",
		Example: "  moot mode review dba full_auto\n  moot mode review dba default",
		Args:    cobra.ExactArgs(3),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 2 {
				return modeNames, cobra.ShellCompDirectiveNoFileComp
			}
			return complete(cmd, args, begin)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := args[2]
			if !slices.Contains(modeNames, mode) {
				return app.Usagef(cmd, "no mode %q: use %s", mode, strings.Join(modeNames, ", "))
			}
			d, err := a.do(cmd.Context(), args[0], s, func(_ room.View, q *api.Command) {
				q.Do, q.Seat = "mode", args[1]
				if mode != defaultMode {
					q.Mode = room.Mode(mode)
				}
			})
			if err != nil {
				return err
			}
			said := "the mode of " + args[1] + " is " + mode + " until " + d.Room + " ends"
			switch {
			case len(d.Events) == 0:
				said = "nothing changed: the mode of " + args[1] + " is " + mode + ", as before"
			case mode == defaultMode:
				said = "the mode of " + args[1] + " is that of room.yaml again in " + d.Room
			}
			return a.Emit(d, func(w io.Writer) error { _, err := io.WriteString(w, said+"\n"); return err })
		},
	}
	s.flags(cmd)
	return cmd
}
