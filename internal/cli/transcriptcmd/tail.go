package transcriptcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/transcripts"
)

// newTranscriptTailCmd follows a room.
func newTranscriptTailCmd(a *commands) *cobra.Command {
	var level levelFlag
	var last int
	cmd := &cobra.Command{
		Use:   "tail ROOM",
		Short: "Show the end of a room's log and what is added to it",
		Long: "tail shows a room's last events, then each new one as soon as it is stored, until\n" +
			"the room ends or you press Ctrl-C. It takes no lock, so the room may be run by\n" +
			"another process, and may be one that is still to be opened. With -o jsonl it\n" +
			"writes events as `moot schema event` describes them.",
		Example:           "  moot transcript tail r_01 --last 5\n  moot transcript tail r_01 -o jsonl --level user_visible",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := level.level(cmd, transcripts.Internal)
			if err != nil {
				return err
			}
			return a.tail(cmd.Context(), args[0], visibilityOf(l), last)
		},
	}
	level.add(cmd, "internal")
	cmd.Flags().IntVar(&last, "last", 10, "how many events of the past to show")
	app.Formats(cmd, app.FormatTable, app.FormatJSONL)
	return cmd
}

// tail shows what is in the log and then follows it.
func (a *commands) tail(ctx context.Context, id string, level room.Visibility, last int) error {
	db, err := a.Wiring().OpenLog(true)
	if err != nil {
		return err
	}
	defer db.Close()
	end, err := db.Tail(ctx, id)
	if err != nil && !errors.Is(err, log.ErrNotFound) {
		return err
	}
	if end.Seq == 0 {
		a.Note("there is no room %s yet; waiting for it", id)
	}
	show, state := a.shower(level), &room.State{}
	var past []string
	for e, err := range db.Follow(ctx, id, log.Pos{}) {
		if err != nil {
			return err
		}
		state.Apply(e.Event)
		text, err := show(e.Event)
		if err != nil {
			return err
		}
		switch {
		case e.Seq > end.Seq:
			fmt.Fprint(a.Stdout, text)
		case text != "":
			past = app.KeepLast(append(past, text), last)
		}
		if e.Seq == end.Seq {
			for _, text := range past {
				fmt.Fprint(a.Stdout, text)
			}
		}
		if e.Seq >= end.Seq && over(state) {
			return nil
		}
	}
	return nil
}

// visibilityOf returns the visibility of a level. A reader of all sees what is
// internal.
func visibilityOf(l transcripts.Level) room.Visibility {
	if l == transcripts.All {
		return room.Internal
	}
	return room.Visibility(l)
}

// over reports whether nothing will be added to a room by itself: it has
// ended.
func over(s *room.State) bool {
	return s.Phase == room.PhaseStopped || s.Phase == room.PhaseCompleted || s.Phase == room.PhaseError
}

// shower returns how an event is written: as the timeline has it, or as JSON.
func (a *commands) shower(level room.Visibility) func(room.Event) (string, error) {
	printer := a.Printer()
	return func(e room.Event) (string, error) {
		seen, ok := e.VisibleAt(level)
		if !ok {
			return "", nil
		}
		if a.Format != app.FormatJSONL {
			return printer.Event(seen), nil
		}
		raw, err := room.MarshalEvent(app.Secretless(seen))
		return string(raw) + "\n", err
	}
}
