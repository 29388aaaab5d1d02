package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
)

// runFlags are what `moot run` may change of a room.
type runFlags struct {
	room     string
	trust    bool
	headless bool
	mode     string
	policy   string
	maxTurns int
	as       string
	share    bool
}

// newRunCmd runs a room in the foreground.
func newRunCmd(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run a room in the foreground, new or again",
		Long: "run opens the room that FILE describes, room.yaml when none is named, and runs\n" +
			"it until it ends. In a terminal you see what is said and may take part: press ?\n" +
			"for the keys. Where stdin is no terminal it is read for commands, one a line\n" +
			"(`help` lists them); at its end the room runs on until it rests.\n\n" +
			"--headless runs without anybody: the room ends when it is not live any more, and\n" +
			"the exit code says why (`moot help exit-codes`). --room opens a room of the log\n" +
			"again, after a crash as after a pause; it needs no file.",
		Example: "  moot run\n  moot run review.yaml --headless -o jsonl\n  moot run --room r_01k5... --max-turns 60",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.room != "" && (len(args) > 0 || f.mode != "") {
				return usagef(cmd, "--room opens a room as it is in the log: it goes with no file and no --mode")
			}
			if f.room != "" {
				return a.runAgain(cmd.Context(), f)
			}
			return a.runNew(cmd.Context(), append(args, "room.yaml")[0], f)
		},
	}
	formats(cmd, formatTable, formatJSONL, formatJSON)
	cmd.Flags().StringVar(&f.room, "room", "", "open this room of the log again")
	cmd.Flags().BoolVar(&f.trust, "trust-commands", false, "with --room: start what the log of an imported room says")
	cmd.Flags().BoolVar(&f.headless, "headless", false, "nobody is there: end when the room rests")
	cmd.Flags().StringVar(&f.mode, "mode", "", "approval mode of all agents: manual, semi_auto or full_auto")
	cmd.Flags().StringVar(&f.policy, "policy", "", "a policy instead of the room's: a name, ./folder or ./file.wasm")
	a.fuelFlag(cmd)
	completePolicyFlag(cmd)
	cmd.Flags().IntVar(&f.maxTurns, "max-turns", 0, "limit of turns instead of the room's")
	cmd.Flags().StringVar(&f.as, "as", "", "which person you are; default: the first of the roster, else the host")
	cmd.Flags().BoolVar(&f.share, "share", false, "also do what `moot share` does, as long as the room runs: a device is online in one process")
	return cmd
}

// runNew opens the room that a file describes and runs it.
func (a *app) runNew(ctx context.Context, file string, f runFlags) error {
	spec, seats, s, err := a.specOf(ctx, file, f)
	if err != nil {
		return err
	}
	h, err := a.openHost()
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.keep(ctx, s); err != nil {
		return err
	}
	h.preload(spec.Policy)
	if err := h.dial(ctx, spec, seats, f.share); err != nil {
		return err
	}
	cfg := h.config()
	cfg.Headless = f.headless
	r, err := coordinator.Open(ctx, cfg, spec, seats)
	if err != nil {
		return err
	}
	on := stage{app: a, host: h, room: r, headless: f.headless, you: person(seats, f.as)}
	return on.run(ctx)
}

// specOf reads a room file, applies the flags to it and finds its policy.
func (a *app) specOf(ctx context.Context, file string, f runFlags) (room.Spec, []room.Participant, *supply, error) {
	o := a.roomOptions(file, f.headless && f.mode != string(room.FullAuto))
	r, problems := config.Load(file, o)
	if r == nil {
		return room.Spec{}, nil, nil, problems.Err()
	}
	if !a.flags.quiet {
		_ = problems.Print(a.stderr) // warnings; there is nowhere else to say so
	}
	spec, seats := r.Spec(newRoomID(), newSecret())
	if err := f.apply(&spec, seats); err != nil {
		return room.Spec{}, nil, nil, err
	}
	p, dir, digest := spec.Policy, r.Dir, r.Policy.SHA256
	if f.policy != "" {
		dir, digest = ".", ""
	}
	s, err := a.pinnedPolicy(ctx, dir, p.Use, digest)
	if err != nil {
		return room.Spec{}, nil, nil, err
	}
	spec.Policy = s.ref(p.Settings, p.Hints)
	return spec, seats, s, nil
}

// apply puts the flags in the place of what the file says.
func (f runFlags) apply(spec *room.Spec, seats []room.Participant) error {
	mode := room.Mode(f.mode)
	switch {
	case mode == "":
	case mode != room.Manual && mode != room.SemiAuto && mode != room.FullAuto:
		return flagProblem("--mode", f.mode, "it is manual, semi_auto or full_auto")
	case mode != room.FullAuto && f.headless && mode == room.Manual:
		return &problem.Error{Code: "ROOM-MANUAL", What: "manual seats need somebody who approves, and --headless means nobody", Fix: "use --mode full_auto, or leave --headless out"}
	}
	for i := range seats {
		if mode != "" && seats[i].Kind != policy.Human {
			seats[i].Mode = mode
		}
	}
	if f.policy != "" {
		spec.Policy = room.PolicyRef{Use: f.policy, Hints: spec.Policy.Hints}
	}
	if f.maxTurns < 0 {
		return flagProblem("--max-turns", fmt.Sprint(f.maxTurns), "it is a number above 0")
	}
	if f.maxTurns > 0 {
		spec.Limits.MaxTurns = f.maxTurns
	}
	return checkPerson(seats, f.as)
}

func flagProblem(flag, value, fix string) error {
	return &problem.Error{Code: "CLI-USAGE", What: fmt.Sprintf("%s %q is not allowed", flag, value), Fix: fix}
}

// checkPerson refuses to speak as somebody who is no person of the room.
func checkPerson(seats []room.Participant, id string) error {
	if id == "" || id == room.ActorHost {
		return nil
	}
	for _, x := range seats {
		if x.ID == id && atHand(x) {
			return nil
		}
	}
	return flagProblem("--as", id, "it names a participant with kind: human")
}

// person is the seat of who sits in front of moot; "" is the host.
func person(seats []room.Participant, as string) string {
	if as != "" {
		if as == room.ActorHost {
			return ""
		}
		return as
	}
	for _, x := range seats {
		if atHand(x) {
			return x.ID
		}
	}
	return ""
}

// atHand reports whether a seat is that of a person who can sit in front of
// this moot: not one who speaks through another device.
func atHand(x room.Participant) bool { return x.Kind == policy.Human && x.Device == "" }
