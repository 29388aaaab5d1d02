package roomcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/internal/timeline"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// A foreground is one room that runs in the foreground, shown to the user.
type foreground struct {
	*commands
	host     roomHost
	room     runningRoom
	headless bool
	you      string      // the person's seat; "" is the host
	after    int64       // events up to here are not shown
	before   *room.State // of a room that was reopened: what had happened
	badge    string
	again    []string              // flags of this run that the next one needs too
	failIf   []condition.Condition // exit 8 if one holds at the end
	// watch is told every event as it becomes durable; it may be nil. It runs
	// in parallel with the room and may give it commands.
	watch func(context.Context, timeline.Room, room.Event)
	// joined says that a server runs the room. It then has its own rules for how long
	// the room stays loaded.
	joined bool
}

// A roomHost runs a room of the foreground: a Host of this process, or a server.
type roomHost interface {
	Stop() error // ends the rooms of this process
	FindPolicy(ctx context.Context, name string) (room.PolicyRef, error)
}

// A runningRoom is a room of the foreground.
type runningRoom interface {
	timeline.Room
	ID() string
}

// run runs the room to its end and returns its exit code as an error.
func (s *foreground) run(ctx context.Context) error {
	s.Note("room %s, kept in %s", s.room.ID(), s.place())
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var follower sync.WaitGroup
	defer follower.Wait()
	if s.watch != nil {
		follower.Go(func() { s.follow(watching) })
	}
	shown := s.show(ctx)
	end()
	failed := errors.Join(s.host.Stop(), shown)
	v := s.room.View()
	sum := s.summarize(v)
	defer s.head()
	if failed != nil {
		if !s.Flags.Quiet {
			_ = sum.text(s.Stderr) // the error follows
		}
		return failed
	}
	if err := s.emit(v, sum); err != nil {
		return err
	}
	return s.ending(sum, v.Ending)
}

// place says where the room is kept.
func (s *foreground) place() string {
	switch {
	case s.Remote():
		return "a server"
	case s.joined:
		return s.Place() + ", run by `moot serve`"
	}
	return s.Place()
}

// summarize says how the room has ended, with what to do next.
func (s *foreground) summarize(v room.View) summary {
	sum := summarize(v)
	sum.Next, sum.Transcript = s.goOn(v), s.CommandLine("transcript", "export", v.Room, "-o", "md")
	if sum.Conditions = sum.judge(s.failIf); len(sum.Conditions) > 0 && (sum.Exit == app.ExitOK || sum.Exit == app.ExitLimit) {
		sum.Exit = app.ExitDegraded
	}
	return sum
}

// emit writes the summary, with -o json as part of the room's state.
func (s *foreground) emit(v room.View, sum summary) error {
	switch s.Format {
	case app.FormatJSON:
		return s.Emit(struct {
			room.View
			Summary summary `json:"summary"`
		}{v, sum}, nil)
	case app.FormatJSONL:
		return s.Emit(map[string]summary{"summary": sum}, nil)
	}
	if s.Flags.Quiet {
		return nil
	}
	return s.Emit(sum, sum.text)
}

func (s *foreground) follow(ctx context.Context) {
	for u, err := range s.room.Watch(ctx, s.after, room.Internal) {
		if err != nil {
			return // show returns the error too
		}
		if u.Event != nil {
			s.watch(ctx, s.room, *u.Event)
		}
	}
}

// show shows the room until it has ended, or rests without input. When
// ctx ends it pauses the room first.
func (s *foreground) show(ctx context.Context) error {
	if s.headless {
		return s.stream(ctx)
	}
	session := &timeline.Session{
		Room: s.room, Printer: s.printer(), Before: s.before, Shown: s.after + 1, Actor: s.you, In: s.Stdin, Out: s.Stdout, Err: s.Stderr,
		Quiet: s.Flags.Quiet, Terminal: s.Terminal(), Interrupt: app.InterruptSelf, Inbox: s.Inbox(),
		Policy: func(name string) (room.PolicyRef, error) {
			return s.host.FindPolicy(context.WithoutCancel(ctx), name)
		},
	}
	if s.Format != app.FormatTable {
		session.Events = s.EventLine
	}
	if s.Flags.NoInput {
		session.In = nil
	}
	return session.Run(ctx)
}

// stream writes events as they become durable.
func (s *foreground) stream(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		// The room may have ended by itself meanwhile; then there is nothing to pause.
		_, _ = s.room.Do(context.WithoutCancel(ctx), room.Command{Actor: room.ActorHost, Do: room.Pause{}})
	})
	defer stop()
	p := s.printer()
	if err := s.begin(p); err != nil {
		return err
	}
	if s.joined && s.ended(s.after) {
		return nil
	}
	for u, err := range s.room.Watch(context.WithoutCancel(ctx), s.after, room.Internal) {
		if err != nil {
			return err
		}
		if u.Event == nil {
			continue
		}
		line := p.Event(*u.Event)
		switch {
		case s.Format != app.FormatTable:
			line = s.EventLine(*u.Event)
		case s.Flags.Quiet:
			line = ""
		}
		if _, err := fmt.Fprint(s.Stdout, line); err != nil {
			_, perr := s.room.Do(context.WithoutCancel(ctx), room.Command{Actor: room.ActorHost, Do: room.Pause{Reason: "the output was closed"}})
			return errors.Join(fmt.Errorf("writing events: %w", err), perr)
		}
		if s.joined && s.ended(u.Event.Seq) {
			return nil
		}
	}
	return nil
}

// ended reports whether a room at event seq has nothing more to do for a headless
// run.
func (s *foreground) ended(seq int64) bool {
	v := s.room.View()
	return v.Phase != room.PhaseLive && seq >= v.Seq
}

// printer shows a room in this terminal's colours and width.
func (s *foreground) printer() *timeline.Printer {
	p := s.App.Printer()
	p.You, p.Badge = s.you, s.badge
	return p
}

// begin shows what had happened in a room that was opened again.
func (s *foreground) begin(p *timeline.Printer) error {
	if s.before == nil {
		return nil
	}
	head := p.Recall(s.before)
	if s.Format != app.FormatTable || s.Flags.Quiet {
		return nil
	}
	_, err := io.WriteString(s.Stdout, head)
	return err
}

// head says where the chain of the room's log ends, for `moot transcript verify
// --expect`.
func (s *foreground) head() {
	if s.Remote() {
		return
	}
	db, err := s.ReadLog()
	if err != nil {
		return // the room has reported it
	}
	defer db.Close()
	id, ctx := s.room.ID(), context.Background()
	tail, err := db.Tail(ctx, id)
	if err != nil || tail.Seq == 0 {
		return
	}
	if last, err := db.Read(ctx, id, log.Pos{Seq: tail.Seq - 1}, 1); err == nil && len(last) == 1 {
		s.Note("log: %d events, chain ends in %x", tail.Seq, last[0].Hash)
	}
}

// ending is the exit code of a room that is at rest, by the table of endings.
func (s *foreground) ending(sum summary, e room.Ending) error {
	switch sum.Exit {
	case app.ExitOK:
		return nil
	case app.ExitPolicy, app.ExitFailure:
		fix := cmp.Or(e.Fix, "fix the cause")
		if sum.Next != "" {
			fix += ", then `" + sum.Next + "`"
		}
		return app.ExitWith(sum.Exit, &problem.Error{Code: cmp.Or(e.Name, "ROOM-ERROR"), What: e.Reason, Where: "room " + sum.Room, Fix: fix})
	}
	return app.ExitWith(sum.Exit, nil)
}

// codeOf is the table of endings.
func codeOf(v room.View) int {
	switch v.Phase {
	case room.PhaseCompleted:
		if v.Ending.Degraded {
			return app.ExitDegraded
		}
		return app.ExitOK
	case room.PhaseStopped:
		if v.Ending.Cause == room.CausePerson {
			return app.ExitOK
		}
		return app.ExitLimit
	case room.PhasePaused:
		if v.Ending.Cause == room.CausePolicy {
			return app.ExitPolicy
		}
		return app.ExitInterrupted
	}
	return app.ExitFailure
}
