package transcriptcmd

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/fork"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// newTranscriptRedactCmd removes what was said.
func newTranscriptRedactCmd(a *commands) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "redact ROOM SEQ|tN...",
		Short: "Remove what was said in events of a room, for good",
		Long: "redact removes the texts of events, by number, or of the messages of turns, with\n" +
			"the drafts that they were before. A stub stays in the place of each, and an event\n" +
			"says that it was redacted and why. The chain holds as before, and a new export\n" +
			"no longer has the texts; exports that were made before do.\n\n" +
			"A room that is being run is refused; its terminal has the command redact.",
		Example:           "  moot transcript redact r_01 t3 --reason 'a password'\n  moot transcript redact r_01 17 23",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: source.CompleteRooms(a.App),
		RunE: func(cmd *cobra.Command, args []string) error {
			var places []fork.Place
			for _, s := range args[1:] {
				p, err := fork.ParsePlace(s)
				if err != nil {
					return err
				}
				places = append(places, p)
			}
			return a.redact(cmd.Context(), args[0], places, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is recorded")
	return cmd
}

// A redacted room, and the events of it that hold nothing any more.
type redacted struct {
	Room   string  `json:"room"`
	Events []int64 `json:"redacted"`
}

func (a *commands) redact(ctx context.Context, id string, places []fork.Place, reason string) error {
	db, err := a.Wiring().OpenLog(false)
	if err != nil {
		return err
	}
	defer db.Close()
	events, state := []room.Event{}, &room.State{}
	err = app.EachEvent(ctx, db, id, func(e room.Event) error {
		events = append(events, e)
		state.Apply(e)
		return nil
	})
	if err != nil {
		return err
	}
	unlock, err := db.Lock(ctx, id)
	if held, ok := errors.AsType[*problem.Error](err); ok && errors.Is(err, log.ErrLocked) {
		return &problem.Error{Code: "ROOM-LOCKED", What: held.What + "; nothing is redacted", Where: held.Where, Fix: "use redact in its terminal, or end that process first", Kind: log.ErrLocked}
	}
	if err != nil {
		return err
	}
	defer unlock()
	targets, err := targetsOf(id, events, places)
	if err != nil {
		return err
	}
	if err := redactAll(ctx, db, state, events, targets, reason); err != nil {
		return err
	}
	return a.EmitText(redacted{id, targets}, "%s: redacted %s\n", term.Line(id), list(targets))
}

// targetsOf finds the events that hold what was said at places.
func targetsOf(id string, events []room.Event, places []fork.Place) ([]int64, error) {
	var targets []int64
	for _, p := range places {
		i := slices.IndexFunc(events, func(e room.Event) bool {
			if p.Turn > 0 {
				return p.Says(e)
			}
			return e.Seq == p.Seq
		})
		if i < 0 {
			return nil, p.Missing(id)
		}
		if e := events[i]; reflect.DeepEqual(e, e.Redacted()) {
			return nil, &problem.Error{
				Code: "TRANSCRIPT-EVENT", What: fmt.Sprintf("there is nothing to redact in %s of %s, %s", p, id, e.Body.Type()),
				Fix: "what is said is in events of the types message.posted, turn.drafted, turn.edited, turn.rejected, turn.passed and summary.made",
			}
		}
		targets = append(targets, events[i].Seq)
		targets = append(targets, draftsOf(events, events[i])...)
	}
	slices.Sort(targets)
	return slices.Compact(targets), nil
}

// draftsOf returns the events that hold what became a message: its draft and
// what that was edited to.
func draftsOf(events []room.Event, e room.Event) (seqs []int64) {
	m, ok := e.Body.(room.MessagePosted)
	if !ok || m.Turn == 0 {
		return nil
	}
	for _, d := range events {
		switch b := d.Body.(type) {
		case room.TurnDrafted:
			if b.Turn == m.Turn {
				seqs = append(seqs, d.Seq)
			}
		case room.TurnEdited:
			if b.Turn == m.Turn {
				seqs = append(seqs, d.Seq)
			}
		}
	}
	return seqs
}

// redactAll appends the events that say so, then removes the texts: a crash
// between the two is made good when the room is opened again.
func redactAll(ctx context.Context, db app.RoomLog, state *room.State, events []room.Event, targets []int64, reason string) error {
	do := room.Redact{Target: targets[0], Reason: reason, Drafts: targets[1:]}
	now := room.Now{Wall: time.Now().UTC(), Clock: state.Clock}
	said, err := state.Decide(room.Command{Actor: room.ActorHost, Do: do}, now)
	if err != nil {
		return err
	}
	if _, _, err := db.Append(ctx, state.Spec.Room, log.At(state.Seq), time.Time{}, said...); err != nil {
		return err
	}
	var stubs []room.Event
	for _, seq := range targets {
		stubs = append(stubs, events[seq-1].Redacted())
	}
	return db.Redact(ctx, state.Spec.Room, stubs...)
}

// list writes numbers of events.
func list(seqs []int64) string {
	text := ""
	for i, seq := range seqs {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(seq)
	}
	if len(seqs) == 1 {
		return "event " + text
	}
	return "events " + text
}
