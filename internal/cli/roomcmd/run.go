package roomcmd

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// newRunCmd runs a room in the foreground.
func newRunCmd(a *commands) *cobra.Command {
	var stored string
	o := moot.Options{Foreground: true}
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Start or resume a room in the foreground",
		Long: "run opens the room that FILE describes, room.yaml when none is named, and runs\n" +
			"it until it ends. In a terminal you see what is said and may take part: /help lists\n" +
			"keys and commands. Where stdin is no terminal it is read for commands, one a line\n" +
			"(help lists them); at its end the room runs on until it rests.\n\n" +
			"--headless runs without a person: the room ends when it is no longer live, and\n" +
			"the exit code says why (`moot help exit-codes`). --room resumes a stored room,\n" +
			"after a crash or a pause; it needs no file.",
		Example: "  moot run\n  moot run review.yaml --headless -o jsonl\n  moot run --room r_01k5... --max-turns 60",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if stored != "" && (len(args) > 0 || o.Mode != "") {
				return app.Usagef(cmd, "--room opens a room as it is in the log: it goes with no file and no --mode")
			}
			if stored != "" {
				return a.runAgain(cmd.Context(), stored, o)
			}
			return a.runNew(cmd.Context(), append(args, "room.yaml")[0], o)
		},
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL, app.FormatJSON)
	cmd.Flags().StringVar(&stored, "room", "", "resume this stored room")
	cmd.Flags().BoolVar(&o.TrustCommands, "trust-commands", false, "with --room: start the commands that the log of an imported room names")
	cmd.Flags().BoolVar(&o.Headless, "headless", false, "run without a person: end when the room is no longer live")
	cmd.Flags().StringVar((*string)(&o.Mode), "mode", "", "approval mode of all agents: manual, semi_auto or full_auto")
	cmd.Flags().StringVar(&o.Policy, "policy", "", "a policy instead of the room's: a name, ./folder or ./file.wasm")
	a.FuelFlag(cmd)
	app.CompletePolicyFlag(cmd)
	cmd.Flags().IntVar(&o.MaxTurns, "max-turns", 0, "limit of turns instead of the room's")
	cmd.Flags().StringVar(&o.As, "as", "", "which person you are; default: the first of the roster, else the host")
	cmd.Flags().BoolVar(&o.Share, "share", false, "also share this device, as long as the room runs: a device is online in one process")
	return cmd
}

// runNew creates the room that a file describes and runs it.
func (a *commands) runNew(ctx context.Context, file string, o moot.Options) error {
	_, problems := config.Load(file, a.Wiring().RoomOptions(filepath.Dir(file), o.Headless && o.Mode != room.FullAuto))
	if err := problems.Err(); err != nil { // before there is a data folder
		return err
	}
	if !a.Flags.Quiet {
		_ = problems.Print(a.Stderr) // warnings; there is nowhere else to report an error
	}
	h, err := a.Wiring().OpenHost()
	if err != nil {
		return err
	}
	defer h.Close()
	r, err := h.Create(ctx, moot.Source{File: file}, o)
	if err != nil {
		return err
	}
	on := foreground{commands: a, host: h, room: r, headless: o.Headless, you: person(r.View(), o.As)}
	return on.run(ctx)
}

// runAgain opens a stored room. The user is the person at whose word a paused
// room goes on.
func (a *commands) runAgain(ctx context.Context, id string, o moot.Options) error {
	h, err := a.Wiring().OpenHost()
	if err != nil {
		return err
	}
	defer h.Close()
	before, err := a.stateOf(ctx, id)
	if err != nil {
		return err
	}
	leaveDemo, err := a.demoAgain(ctx, h, before, o.Headless)
	if err != nil {
		return err
	}
	defer leaveDemo()
	r, err := h.Open(ctx, id, o)
	if err != nil {
		return err
	}
	on := foreground{commands: a, host: h, room: r, headless: o.Headless, you: person(r.View(), o.As), after: int64(before.Seq), before: before}
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

// person returns the seat of the user: the one that as names, else the first
// person at this device. "" is the host.
func person(v room.View, as string) string {
	if as == room.ActorHost {
		return ""
	}
	if as != "" {
		return as
	}
	for _, x := range v.Seats {
		if x.Kind == policy.Human && x.Device == "" {
			return x.ID
		}
	}
	return ""
}
