package roomcmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// runOptions are the flags of run.
type runOptions struct {
	moot.Options
	stored string // a room to resume
	limits []string
	failIf []string
	detach bool // let a server run the room, and do not show it
	web    bool // open the page of the room in the browser
}

// newRunCmd runs a room in the foreground.
func newRunCmd(a *commands) *cobra.Command {
	o := runOptions{Options: moot.Options{Foreground: true}}
	cmd := &cobra.Command{
		Use:   "run [FILE [TEXT]]",
		Short: "Start or resume a room in the foreground",
		Long: "run opens the room that FILE describes, room.yaml when none is named, and runs\n" +
			"it until it ends. TEXT, or --say, is the first message. In a terminal you see\n" +
			"what is said and may take part: /help lists keys and commands. If stdin is no\n" +
			"terminal, commands are read from it, one a line (help lists them); at its end the\n" +
			"room runs on until it rests.\n\n" +
			"--headless runs without a person: the room ends when it is no longer live. At the\n" +
			"end a summary says why, with the figures of every seat and the command that goes\n" +
			"on; the exit code says it too (`moot help exit-codes`). --fail-if compares a figure\n" +
			"of the summary with a number:\n" + strings.Join(names(false), ", ") + ".\n" +
			"--room resumes a stored room, after a crash, a pause or a limit; it needs no file.\n\n" +
			"While `moot serve` runs for the data folder, it runs the room, and run shows it in\n" +
			"the same way. Variables of room.yaml are then those of the server's environment.",
		Example: "  moot run\n  moot run review.yaml --headless -o jsonl\n  moot run room.yaml \"@dba, is the index safe?\" --headless --fail-if 'turns < 2'\n" +
			"  moot run --room r_01k5... --limit maxTurns=60 --limit maxCost=2.50",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			if o.stored != "" {
				return a.runAgain(cmd.Context(), o)
			}
			return a.runNew(cmd.Context(), append(args, "room.yaml")[0], o)
		},
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL, app.FormatJSON)
	app.AllowServer(cmd)
	f := cmd.Flags()
	f.StringVar(&o.stored, "room", "", "resume this stored room")
	f.StringVar(&o.Say, "say", "", "post this as the first message, in place of opening: in room.yaml")
	f.StringArrayVar(&o.limits, "limit", nil, "NAME=VALUE: a limit instead of the room's, as in room.yaml; repeatable")
	f.StringSliceVar(&o.Restore, "restore", nil, "with --room: seats that were suspended or muted and take part again")
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 8 if [SEAT.]FIGURE OP NUMBER holds at the end; repeatable")
	f.BoolVar(&o.TrustCommands, "trust-commands", false, "with --room: start the commands that the log of an imported room names")
	f.BoolVar(&o.Headless, "headless", false, "run without a person: end when the room is no longer live")
	f.StringVar((*string)(&o.Mode), "mode", "", "approval mode of all agents: manual, semi_auto or full_auto")
	f.StringVar(&o.Policy, "policy", "", "a policy instead of the room's: a name, ./folder or ./file.wasm")
	a.FuelFlag(cmd)
	app.CompletePolicyFlag(cmd)
	f.IntVar(&o.MaxTurns, "max-turns", 0, "the same as --limit maxTurns=N")
	f.BoolVar(&o.detach, "detach", false, "let moot serve run the room, print its id and end")
	f.BoolVar(&o.web, "web", false, "open the page of the room in the browser too")
	f.StringVar(&o.As, "as", "", "which person you are; default: the first of the roster, else the host")
	f.BoolVar(&o.Share, "share", false, "also share this device, as long as the room runs: a device is online in one process")
	return cmd
}

// complete checks the flags and arguments together.
func (o *runOptions) complete(cmd *cobra.Command, args []string) error {
	switch {
	case o.stored != "" && (len(args) > 0 || o.Mode != ""):
		return app.Usagef(cmd, "--room opens a room as it is in the log: it goes with no file and no --mode; --say posts a message")
	case o.web && (o.Headless || o.detach):
		return app.Usagef(cmd, "--web opens the page while this command shows the room: it goes with neither --headless nor --detach")
	case o.stored == "" && len(o.Restore) > 0:
		return app.Usagef(cmd, "--restore goes with --room: the seats of a new room take part")
	case len(args) == 2 && cmd.Flags().Changed("say"):
		return app.Usagef(cmd, "the first message is given twice, after the file and with --say")
	case len(args) == 2:
		o.Say = args[1]
	}
	if len(args) == 2 || cmd.Flags().Changed("say") {
		if strings.TrimSpace(o.Say) == "" {
			return app.Usagef(cmd, "the first message is empty")
		}
	}
	for _, assignment := range o.limits {
		if err := config.SetLimit(&o.Limits, assignment); err != nil {
			return err
		}
	}
	return nil
}

// again returns the flags of this run that the next one of the same room needs
// too.
func (o *runOptions) again(a *commands) (flags []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"--headless", o.Headless}, {"--trust-commands", o.TrustCommands}, {"--allow-fuel", a.AllowFuel}, {"--share", o.Share}, {"--web", o.web}} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	if o.As != "" {
		flags = append(flags, "--as", o.As)
	}
	return flags
}

// runNew creates the room that a file describes and runs it.
func (a *commands) runNew(ctx context.Context, file string, o runOptions) error {
	described, problems := config.Load(file, a.Wiring().RoomOptions(filepath.Dir(file), o.Headless && o.Mode != room.FullAuto))
	if err := problems.Err(); err != nil { // before there is a data folder
		return err
	}
	var agents []string
	for _, p := range described.Participants {
		if p.Seat.Kind != policy.Human {
			agents = append(agents, p.Seat.ID)
		}
	}
	conditions, err := parseConditions(o.failIf, agents)
	if err != nil {
		return err
	}
	if !a.Flags.Quiet {
		_ = problems.Print(a.Stderr) // warnings; there is nowhere else to report an error
		printNotes(a.Stderr, privacyNotes(described))
	}
	server, err := a.Daemon()
	if err != nil {
		return err
	}
	if server == nil && o.detach {
		return app.NoServer()
	}
	if server != nil {
		return a.joinNew(ctx, server, file, o, conditions)
	}
	w := a.Wiring()
	flush, err := a.Trace(ctx, &w)
	if err != nil {
		return err
	}
	defer flush()
	h, err := w.OpenHost()
	if err != nil {
		return err
	}
	defer h.Close()
	local := a.ServeRooms(h, app.Serving{Page: o.web})
	defer local.Stop()
	r, err := h.Create(ctx, moot.Source{File: file}, o.Options)
	if err != nil {
		return err
	}
	local.Open(r.ID())
	on := foreground{commands: a, host: h, room: r, headless: o.Headless, you: app.Person(r.View(), o.As), again: o.again(a), failIf: conditions}
	return on.run(ctx)
}

// runAgain opens a stored room. The user is the person at whose word a paused
// room goes on.
func (a *commands) runAgain(ctx context.Context, o runOptions) (err error) {
	if o.stored, err = a.FindRoom(ctx, o.stored); err != nil {
		return err
	}
	server, err := a.Daemon()
	if err != nil {
		return err
	}
	if server == nil && o.detach {
		return app.NoServer()
	}
	if server != nil {
		return a.joinAgain(ctx, server, o)
	}
	w := a.Wiring()
	flush, err := a.Trace(ctx, &w)
	if err != nil {
		return err
	}
	defer flush()
	h, err := w.OpenHost()
	if err != nil {
		return err
	}
	defer h.Close()
	local := a.ServeRooms(h, app.Serving{Page: o.web})
	defer local.Stop()
	before, err := a.stateOf(ctx, o.stored)
	if err != nil {
		return err
	}
	conditions, err := parseConditions(o.failIf, drivenSeats(before))
	if err != nil {
		return err
	}
	leaveDemo, err := a.demoAgain(ctx, h, before, o.Headless)
	if err != nil {
		return err
	}
	defer leaveDemo()
	r, err := h.Open(ctx, o.stored, o.Options)
	if err != nil {
		return err
	}
	local.Open(r.ID())
	on := foreground{
		commands: a, host: h, room: r, headless: o.Headless, you: app.Person(r.View(), o.As), after: int64(before.Seq), before: before,
		again: o.again(a), failIf: conditions,
	}
	return on.run(ctx)
}

// stateOf rebuilds a room's state from the log.
func (a *commands) stateOf(ctx context.Context, id string) (*room.State, error) {
	db, err := a.ReadLog()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return app.FoldRoom(ctx, db, id)
}
