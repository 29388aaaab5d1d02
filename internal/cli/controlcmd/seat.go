package controlcmd

import (
	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
)

// newTakeOverCmd takes over a seat.
func newTakeOverCmd(a *commands) *cobra.Command {
	return a.seat(&cobra.Command{
		Use:   "takeover ROOM SEAT",
		Short: "Speak for an agent yourself, in a room that runs",
		Long: "takeover hands an agent's seat to you. A turn of the agent that is in flight is\n" +
			"cancelled. `moot say ROOM TEXT --as SEAT` speaks for it, and `moot release` hands the\n" +
			"seat back.",
		Example: "  moot takeover review dba\n  moot say review \"The index is safe.\" --as dba\n  moot release review dba",
	}, "takeover", "taken over")
}

// newReleaseCmd hands a seat back.
func newReleaseCmd(a *commands) *cobra.Command {
	return a.seat(&cobra.Command{
		Use:     "release ROOM SEAT",
		Short:   "Hand a seat back to its agent, in a room that runs",
		Long:    "release hands a seat that you have taken over back to its agent.",
		Example: "  moot release review dba",
	}, "release", "released")
}

// newNextCmd gives an agent the floor.
func newNextCmd(a *commands) *cobra.Command {
	return a.seat(&cobra.Command{
		Use:     "next ROOM AGENT",
		Short:   "Give an agent the floor without asking the policy, in a room that runs",
		Long:    "next gives an agent the next turn. The room must be live, with no turn in flight.",
		Example: "  moot next review dba",
	}, "next", "the floor is given to")
}

// seat makes a command about one seat of a room.
func (a *commands) seat(cmd *cobra.Command, do, said string) *cobra.Command {
	var s sender
	cmd.Args = cobra.ExactArgs(2)
	cmd.ValidArgsFunction = a.CompleteRoom(app.CompleteSeats)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := a.do(cmd.Context(), args[0], s, func(_ room.View, q *api.Command) {
			q.Do, q.Seat = do, args[1]
		})
		if err != nil {
			return err
		}
		return a.tell(d, said+" "+args[1]+" in "+d.Room)
	}
	s.flags(cmd)
	return cmd
}
