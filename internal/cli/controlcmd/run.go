package controlcmd

import (
	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// newPauseCmd pauses a room.
func newPauseCmd(a *commands) *cobra.Command {
	return a.runState(&cobra.Command{
		Use:   "pause ROOM [REASON]",
		Short: "Pause a room that runs: it sends nothing any more",
		Long: "pause ends the turn that is in flight and lets the room send nothing more. When the\n" +
			"command has ended, the pause is in the log. `moot resume` goes on.",
		Example: "  moot pause r_01k5\n  moot pause review \"lunch\"",
		Args:    cobra.RangeArgs(1, 2),
	}, "pause", "paused")
}

// newResumeCmd lets a paused room go on.
func newResumeCmd(a *commands) *cobra.Command {
	return a.runState(&cobra.Command{
		Use:     "resume ROOM",
		Short:   "Let a paused room go on",
		Long:    "resume lets a paused room go on. A room that no process runs is resumed by\n`moot run --room ID`.",
		Example: "  moot resume r_01k5",
		Args:    cobra.ExactArgs(1),
	}, "resume", "resumed")
}

// newStopCmd ends a room.
func newStopCmd(a *commands) *cobra.Command {
	return a.runState(&cobra.Command{
		Use:     "stop ROOM [REASON]",
		Short:   "End a room that runs, at once",
		Long:    "stop ends the turn that is in flight, and the room for good. `moot complete` says\nthat the work is done instead.",
		Example: "  moot stop r_01k5\n  moot stop review \"the question is moot\"",
		Args:    cobra.RangeArgs(1, 2),
	}, "stop", "stopped")
}

// newCompleteCmd ends a room whose work is done.
func newCompleteCmd(a *commands) *cobra.Command {
	return a.runState(&cobra.Command{
		Use:     "complete ROOM [REASON]",
		Short:   "End a room that runs: its work is done",
		Long:    "complete ends the room for good, and records that its work is done.",
		Example: "  moot complete review \"0042 can be deployed\"",
		Args:    cobra.RangeArgs(1, 2),
	}, "complete", "completed")
}

// runState makes a command that changes whether a room runs, with an optional reason.
func (a *commands) runState(cmd *cobra.Command, do, said string) *cobra.Command {
	var s sender
	cmd.ValidArgsFunction = a.CompleteRoom(nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := a.do(cmd.Context(), args[0], s, func(_ room.View, q *api.Command) {
			q.Do, q.Reason = do, append(args, "")[1]
		})
		if err != nil {
			return err
		}
		return a.tell(d, said+" "+d.Room)
	}
	s.flags(cmd)
	return cmd
}
