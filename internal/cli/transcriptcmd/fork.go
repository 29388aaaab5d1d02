package transcriptcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
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
			var where place
			if at != "" {
				var err error
				if where, err = parsePlace(at); err != nil {
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

// A forked room.
type forked struct {
	Room   string    `json:"room"`
	From   room.Fork `json:"forked_from"`
	Events int       `json:"events"`
	Turns  int       `json:"turns"`
}

func (a *commands) fork(ctx context.Context, o source.Origin, at place, as string) error {
	if o.Level != transcripts.All {
		return &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: "of " + o.Room + " there is only what is " + string(o.Level), Where: o.File,
			Fix: "export the room with --level all",
		}
	}
	events, err := prefix(o, at)
	if err != nil {
		return err
	}
	state := renamed(events, o.Room, as)
	if ended := state.Phase == room.PhaseStopped || state.Phase == room.PhaseCompleted; ended && !o.UntilDamage {
		return &problem.Error{
			Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("%s had ended by %s: %s", o.Room, at, state.Ending.Reason), Where: o.File,
			Fix: "fork it at an earlier turn",
		}
	}
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := keepFork(ctx, db, o, as, events); err != nil {
		return a.taken(as, err)
	}
	f := forked{as, room.Fork{Room: o.Room, Seq: int64(len(events))}, len(events), state.Tally.Turns}
	if at == (place{}) {
		at = place{seq: int64(f.Events)}
	}
	return a.EmitText(f, "%s: %s of %s, up to %s\n", term.Line(f.Room), app.Count(f.Events, "event"), term.Line(o.Room), at)
}

// prefix returns the events of o up to a place.
func prefix(o source.Origin, at place) ([]room.Event, error) {
	var events []room.Event
	for e, err := range o.Entries {
		if err != nil {
			return nil, err
		}
		if e.Event.Body == nil {
			return nil, &problem.Error{Code: "TRANSCRIPT-READ", What: fmt.Sprintf("of event %d nothing is left", e.Seq), Where: o.File, Fix: "export the room with --level all"}
		}
		events = append(events, e.Event)
		if at.ends(e.Event) {
			return events, nil
		}
	}
	if o.UntilDamage && len(events) > 0 {
		return events, nil
	}
	return nil, at.missing(o.Room)
}

// renamed makes events those of the new room, and returns its state.
func renamed(events []room.Event, from, as string) *room.State {
	s := &room.State{}
	for i := range events {
		switch b := events[i].Body.(type) {
		case room.Opened:
			b.Spec.Room = as
			b.Spec.Observers = nil // a room of its own, which its host shows or does not
			if before := b.Spec.ForkedFrom; before != nil {
				b.Spec.Ancestors = append([]room.Fork{*before}, b.Spec.Ancestors...)
			}
			b.Spec.ForkedFrom = &room.Fork{Room: from, Seq: int64(len(events))}
			events[i].Body = b
		case room.MessagePosted:
			b.Message.Run = as
			events[i].Body = b
		case room.TurnDrafted:
			b.Message.Run = as
			events[i].Body = b
		}
		s.Apply(events[i])
	}
	return s
}

// keepFork stores the new room. A fork of an imported room counts as imported
// too, because its log names commands that were written elsewhere.
func keepFork(ctx context.Context, db app.RoomLog, o source.Origin, as string, events []room.Event) error {
	if err := log.CheckName(as); err != nil {
		return err
	}
	strange := o.File != ""
	if !strange {
		var err error
		if strange, err = db.Imported(ctx, o.Room); err != nil {
			return err
		}
	}
	if strange {
		entries, err := chainOf(events)
		if err != nil {
			return err
		}
		return db.Restore(ctx, as, entries)
	}
	_, dup, err := db.Append(ctx, as, log.Pos{}, time.Time{}, events...)
	if err == nil && dup {
		err = log.ErrConflict
	}
	return err
}

// taken says that a room is there already, if that is what err is.
func (a *commands) taken(id string, err error) error {
	if !errors.Is(err, log.ErrConflict) {
		return err
	}
	return &problem.Error{
		Code: "ROOM-EXISTS", What: "there is a room " + id, Where: a.Settings.Data, Kind: log.ErrConflict,
		Fix: "choose another id, or remove it with `moot rm " + id + "`",
	}
}
