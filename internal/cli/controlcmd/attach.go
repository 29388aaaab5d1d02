package controlcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/timeline"
	"github.com/folkmoot/moot/room"
)

// newAttachCmd shows a room that another process runs.
func newAttachCmd(a *commands) *cobra.Command {
	var as string
	var last int64
	cmd := &cobra.Command{
		Use:   "attach ROOM",
		Short: "See a room that runs in another process, and take part",
		Long: "attach shows a room that another process runs, as `moot run` shows its own, and you\n" +
			"take part in the same way: /help lists keys and commands. Ctrl-C and /quit leave,\n" +
			"and the room runs on. If stdin is no terminal, commands are read from it, one a\n" +
			"line; at its end attach waits for the end of the room. If the connection breaks,\n" +
			"attach connects again and goes on after the last event.",
		Example:           "  moot attach r_01k5\n  moot attach review --as ann\n  moot attach review --no-input -o jsonl",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRoom(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.attach(cmd.Context(), args[0], as, last)
		},
	}
	app.AllowServer(cmd)
	app.Formats(cmd, app.FormatTable, app.FormatJSONL)
	cmd.Flags().StringVar(&as, "as", "", "which person of the room you are; default: the first of the roster, else the host")
	cmd.Flags().Int64Var(&last, "last", 50, "how many of the events that have happened are shown")
	return cmd
}

func (a *commands) attach(ctx context.Context, arg, as string, last int64) error {
	id, err := a.FindRoom(ctx, arg)
	if err != nil {
		return err
	}
	c, err := a.Client(id)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := c.Room(ctx, id)
	if err != nil {
		return err
	}
	r.Lost = func(err error) { a.Note("the connection is lost, and is tried again: %v", err) }
	v := r.View()
	s := &timeline.Session{
		Room: r, Printer: a.Printer(), Actor: app.Person(v, as), In: a.Stdin, Out: a.Stdout, Err: a.Stderr,
		Quiet: a.Flags.Quiet, Terminal: a.Terminal(), Interrupt: app.InterruptSelf,
		Policy:   func(name string) (room.PolicyRef, error) { return room.PolicyRef{Name: name}, nil }, // the server finds it
		Attached: true, Shown: v.Seq - last + 1, Inbox: a.Inbox(),
	}
	s.Printer.You = s.Actor
	if a.Format != app.FormatTable {
		s.Events = a.EventLine
	}
	if a.Flags.NoInput {
		s.In = nil
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	if v := r.View(); v.Phase == room.PhaseLive {
		a.Note("room %s runs on", id)
	}
	return nil
}
