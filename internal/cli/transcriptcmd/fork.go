package transcriptcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/fork"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// newTranscriptForkCmd makes a room of the beginning of another.
func newTranscriptForkCmd(a *commands) *cobra.Command {
	var from source.Single
	var at, as string
	cmd := &cobra.Command{
		Use:   "fork ROOM|FILE --at SEQ|tN|--until-damage",
		Short: "Make a new room of the beginning of another",
		Long: "fork copies a room's events up to one of them, or to the end of a turn, into a\n" +
			"new room. Its first event says which room it was forked from and where; the old\n" +
			"room stays as it is. `moot run --room` goes on with the new one, with another\n" +
			"policy if need be. A room that had ended by then cannot go on, so is not forked\n" +
			"there. With --until-damage it takes all events before the first that is damaged\n" +
			"or missing.",
		Example:           "  moot transcript fork r_01 --at t3\n  moot transcript fork r_01 --at 42 --as try-again && moot run --room try-again --policy mention",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (at == "") == !from.UntilDamage {
				return app.Usagef(cmd, "--at says where: an event by its number, or a turn as t7; --until-damage is the other way")
			}
			var where fork.Place
			if at != "" {
				var err error
				if where, err = fork.ParsePlace(at); err != nil {
					return err
				}
			}
			if as == "" {
				as = coordinator.NewRoomID()
			}
			return from.Open(a.App, cmd, args[0], func(o source.Origin) error { return a.fork(cmd.Context(), o, where, as) })
		},
	}
	from.Add(cmd)
	cmd.Flags().StringVar(&at, "at", "", "the last event that is taken, by number, or the last turn, as t7")
	cmd.Flags().BoolVar(&from.UntilDamage, "until-damage", false, "take the events before the damage of a damaged transcript")
	cmd.Flags().StringVar(&as, "as", "", "id of the new room; default a new one")
	return cmd
}

func (a *commands) fork(ctx context.Context, o source.Origin, at fork.Place, as string) error {
	if o.Level != transcripts.All {
		return &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: "of " + o.Room + " there is only what is " + string(o.Level), Where: o.File,
			Fix: "export the room with --level all",
		}
	}
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	f, err := fork.Make(ctx, db, fork.Source{Room: o.Room, Where: o.File, Entries: o.Entries, Damaged: o.UntilDamage}, at, as)
	if err != nil {
		return a.taken(as, err)
	}
	if at == (fork.Place{}) {
		at = fork.Place{Seq: int64(f.Events)}
	}
	return a.EmitText(f, "%s: %s of %s, up to %s\n", term.Line(f.Room), app.Count(f.Events, "event"), term.Line(o.Room), at)
}

// taken says that a room is there already, if that is what err is.
func (a *commands) taken(id string, err error) error {
	if !errors.Is(err, log.ErrConflict) {
		return err
	}
	return &problem.Error{
		Code: "ROOM-EXISTS", What: "there is a room " + id, Where: a.Place(), Kind: log.ErrConflict,
		Fix: "choose another id, or remove it with `moot rm " + id + "`",
	}
}
