package roomcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A brief is a room in the list of rooms.
type brief struct {
	Room      string    `json:"room"`
	Name      string    `json:"name,omitempty"`
	Objective string    `json:"objective,omitempty"`
	Phase     string    `json:"phase"`
	Ending    string    `json:"ending,omitempty"` // why it is not live
	Turns     int       `json:"turns"`
	Events    uint64    `json:"events"`
	Bytes     int64     `json:"bytes"`
	Updated   time.Time `json:"updated,omitzero"`
	Process   int       `json:"process,omitempty"` // that runs it now
}

// Phases that only lists have: of a room that was live when its host ended, and
// of one that cannot be run because events of its log are missing or changed.
const (
	PhaseInterrupted = "interrupted"
	phaseDamaged     = "damaged"
)

// newLsCmd lists the rooms of the data folder.
func newLsCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the rooms of the data folder, the newest last",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.ls(cmd.Context()) },
	}
}

func (a *commands) ls(ctx context.Context) error {
	briefs, err := a.briefs(ctx)
	if err != nil && len(briefs) == 0 {
		return err
	}
	// A room that is damaged does not hide the others; it is named after them.
	return errors.Join(a.Emit(briefs, func(w io.Writer) error { return a.printBriefs(w, briefs) }), err)
}

func (a *commands) briefs(ctx context.Context) ([]brief, error) {
	briefs := []brief{}
	db, err := a.Wiring().OpenLog(true)
	if errors.Is(err, log.ErrNotFound) {
		return briefs, nil // nothing was ever run here
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	infos, damaged := db.Rooms(ctx)
	for _, info := range infos {
		b, err := briefOf(ctx, db, info)
		if err != nil {
			b.Phase, b.Ending = phaseDamaged, app.ReportOf(err).What
		}
		if err != nil && info.Damage == nil {
			damaged = errors.Join(damaged, err)
		}
		briefs = append(briefs, b)
	}
	slices.SortStableFunc(briefs, func(x, y brief) int { return x.Updated.Compare(y.Updated) })
	return briefs, damaged
}

// briefOf looks at both ends of a room's log, not at the whole.
func briefOf(ctx context.Context, db app.RoomLog, info log.Info) (brief, error) {
	b := brief{Room: info.Room, Events: info.Last, Bytes: info.Bytes, Updated: info.Updated.UTC(), Process: db.Holder(info.Room)}
	first, err := db.Read(ctx, info.Room, log.Pos{}, 1)
	for _, e := range first {
		if o, ok := e.Event.Body.(room.Opened); ok {
			b.Name, b.Objective = o.Spec.Name, o.Spec.Objective
		}
	}
	if err = cmp.Or(info.Damage, err); err != nil {
		return b, err
	}
	return b, b.look(ctx, db, info.Last)
}

// lookPage is how many events are read at a time, from the end.
const lookPage = 64

// look goes back through the events until it knows the room's phase and how
// many turns it has had.
func (b *brief) look(ctx context.Context, db app.RoomLog, last uint64) error {
	person := false // a person has posted a message since
	for end := int64(last); end > 0 && (b.Phase == "" || b.Turns == 0); {
		start := max(0, end-lookPage)
		entries, err := db.Read(ctx, b.Room, log.At(start), int(end-start))
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			if m, ok := e.Event.Body.(room.MessagePosted); ok {
				person = person || m.Message.Source == "user"
			}
			b.note(e.Event, person)
		}
		end = start
	}
	if b.Phase == string(room.PhaseLive) && b.Process == 0 {
		b.Phase = PhaseInterrupted
	}
	return nil
}

// note takes what an event says, unless a later one has said it.
func (b *brief) note(e room.Event, person bool) {
	phase, why := room.Phase(""), ""
	switch body := e.Body.(type) {
	case room.TurnGranted:
		phase = room.PhaseLive
		if b.Turns == 0 {
			b.Turns = body.Turn
		}
	case room.Opened, room.Resumed, room.RoundDeclined:
		phase = room.PhaseLive
	case room.Paused:
		phase, why = room.PhasePaused, body.Reason
	case room.Stopped:
		phase, why = room.PhaseStopped, body.Reason
	case room.Completed:
		phase, why = room.PhaseCompleted, body.Reason
		if body.Cause == room.CauseSettled && person {
			phase, why = room.PhaseLive, ""
		}
	case room.Errored:
		phase, why = room.PhaseError, body.Reason
	}
	if b.Phase == "" && phase != "" {
		b.Phase, b.Ending = string(phase), why
	}
}

func (a *commands) printBriefs(w io.Writer, briefs []brief) error {
	if len(briefs) == 0 {
		a.Note("no rooms in %s; `moot demo` runs one", a.Settings.Data)
		return nil
	}
	rows := make([][]string, len(briefs))
	for i, b := range briefs {
		phase := b.Phase
		if b.Process != 0 {
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
