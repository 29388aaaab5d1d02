package relaycmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/seatcmd"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

type inviteFlags struct {
	shareFlags
	auto    bool
	noWait  bool
	grant   string
	room    string
	seat    string
	expires time.Duration
}

// newInviteCmd makes an invite and waits for the device that uses it.
func newInviteCmd(a *commands) *cobra.Command {
	var f inviteFlags
	cmd := &cobra.Command{
		Use:   "invite [--seat ID ROOM]",
		Short: "Pair this device with another owner's: print an invite and wait for its answer",
		Long: "invite prints a text for one other owner, who gives it to `moot join`. It is a\n" +
			"secret: anyone who has it can use it once, within 15 minutes. Send it on a\n" +
			"private way. When the other device asks to pair, you see its name and twelve\n" +
			"digits. They are the same on both sides unless an attacker is between you. You\n" +
			"then accept or refuse the device; --auto accepts the first that has the invite.\n" +
			"The other owner is asked too, and both devices store nothing before both have\n" +
			"agreed.\n\n" +
			"Pairing allows nothing by itself: what devices may do is under profiles: of the\n" +
			"settings file.\n\n" +
			"With --seat the invite is for one seat of a room, a participant with endpoint\n" +
			"{kind: session}. `moot join` on the other device then also awaits the turns of the\n" +
			"seat: a person there answers them, or an agent session that runs there. No other\n" +
			"device may hold the seat. A process must run the room.",
		Example: "  moot invite --relay wss://relay.example.org\n  moot invite --auto >invite.txt\n  moot invite --grant observer\n  moot invite --seat ann review",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (f.seat == "") != (len(args) == 0):
				return app.Usagef(cmd, "--seat ID and ROOM go together")
			case f.seat == "":
				return a.invite(cmd.Context(), f)
			case f.room != "" || f.noWait || cmd.Flags().Changed("grant"):
				return app.Usagef(cmd, "--seat goes without --room, --grant and --no-wait")
			}
			var err error
			if f.room, err = a.FindRoom(cmd.Context(), args[0]); err != nil {
				return err
			}
			return a.invite(cmd.Context(), f)
		},
		ValidArgsFunction: a.CompleteRoom(nil),
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL)
	f.add(cmd)
	cmd.Flags().BoolVar(&f.auto, "auto", false, "accept the device that uses the invite, without asking")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "only print it; a running share answers it: needs --auto")
	cmd.Flags().StringVar(&f.grant, "grant", identity.GrantAgent.String(), "what the device may be: agent or observer")
	cmd.Flags().StringVar(&f.room, "room", "", "id of the room that it is for; default: any")
	cmd.Flags().StringVar(&f.seat, "seat", "", "id of the seat of ROOM that it is for")
	cmd.Flags().DurationVar(&f.expires, "expires", 15*time.Minute, "how long the invite is good for")
	return cmd
}

// A Pairing is what becomes of an invite: two lines of -o jsonl.
type Pairing struct {
	Invite  string     `json:"invite,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	Peer    *api.Peer  `json:"peer,omitempty"`
}

func (a *commands) invite(ctx context.Context, f inviteFlags) error {
	grant, ok := identity.ParseGrant(f.grant)
	switch {
	case !ok:
		return app.FlagProblem("--grant", f.grant, "it is agent or observer")
	case f.expires <= 0 || f.expires > 24*time.Hour:
		return app.FlagProblem("--expires", f.expires.String(), "an invite is good for up to 24h")
	case f.noWait && !f.auto:
		return &problem.Error{Code: "CLI-USAGE", What: "with --no-wait, no person can accept the other device", Fix: "add --auto, or wait"}
	case !f.auto && !a.Interactive():
		return &problem.Error{Code: "INVITE-NOBODY", What: "accepting the other device needs a person at a terminal", Fix: "run it in a terminal, or add --auto"}
	}
	if f.noWait {
		return a.leaveInvite(grant, f)
	}
	c, done, err := a.inviter(f)
	if err != nil {
		return err
	}
	defer done()
	p, err := c.Invite(ctx, api.InviteRequest{Relay: f.url, Name: f.name, Grant: f.grant, Room: f.room, Seat: f.seat, Auto: f.auto, Expires: f.expires.String()})
	if err != nil {
		return ended(ctx, err)
	}
	if err := a.sayInvite(p.State.Invite, p.State.Expires); err != nil {
		return err
	}
	a.Note("give it to one person, who runs `moot join`; waiting until %s", p.State.Expires.Local().Format("15:04:05"))
	return a.followPairing(ctx, p, pairingWords{
		ask: func(ctx context.Context, q api.PairingQuestion) bool {
			as := "be paired as " + q.Grant
			if f.seat != "" {
				as = "take the seat " + f.seat
			}
			fmt.Fprintf(a.Stderr, "%s wants to %s\n  device  %s\n  digits  %s   (the other side must see the same)\n", term.Line(q.Name), as, q.Spoken, q.Digits)
			return a.Agree(ctx, "accept? [y/N] ")
		},
		agreed: func(api.PairingQuestion) { a.Note("waiting for the other owner to agree too") },
	})
}

// inviter returns a client of the process that makes the invite: for a seat the one
// that runs the room.
func (a *commands) inviter(f inviteFlags) (c *client.Client, done func(), err error) {
	if f.seat == "" {
		return a.Online()
	}
	if c, err = a.Client(f.room); err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

// leaveInvite prints an invite that a share answers.
func (a *commands) leaveInvite(grant identity.Grant, f inviteFlags) error {
	d, err := a.Wiring().Device()
	if err != nil {
		return err
	}
	urls, err := d.Relays(f.url)
	if err != nil {
		return err
	}
	in, err := d.NewInvite(urls[0], device.InviteOptions{Grant: grant, Room: f.room, Auto: f.auto, Expires: f.expires})
	if err != nil {
		return err
	}
	return a.sayInvite(in.String(), in.Expires)
}

func (a *commands) sayInvite(invite string, expires time.Time) error {
	return a.EmitText(Pairing{Invite: invite, Expires: &expires}, "%s\n", invite)
}

// newJoinCmd uses an invite.
func newJoinCmd(a *commands) *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{
		Use:   "join [INVITE]",
		Short: "Pair this device with the one that made an invite",
		Long: "join uses an invite of another owner, read from stdin when it is not given: what\n" +
			"stands in the command line other users of the machine can see. It shows twelve\n" +
			"digits, which the other owner sees too. Compare them by voice: they differ if an\n" +
			"attacker sits between you. The device is stored when both owners have agreed.\n\n" +
			"With an invite for a seat, join then awaits the turns of the seat. At a terminal it\n" +
			"prints each prompt and reads your answer, until the room ends. Without one it does\n" +
			"what one `moot await` does, and an agent session goes on with that command.\n\n" +
			"--yes agrees without asking, for scripts that pair devices of one owner.",
		Example: "  moot join\n  moot join mootinv1.q83v...\n  moot join --yes <invite.txt",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.join(cmd.Context(), args, f) },
	}
	cmd.Flags().BoolVar(&f.noAwait, "no-await", false, "with an invite for a seat: do not await its turn")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree without comparing the digits")
	cmd.Flags().StringVar(&f.name, "name", "", "what this device calls itself to the other; default: the machine's name")
	return cmd
}

type joinFlags struct {
	name    string
	yes     bool
	noAwait bool
}

func (a *commands) join(ctx context.Context, args []string, f joinFlags) error {
	in, err := a.readInvite(args)
	switch {
	case err != nil:
		return err
	case !f.yes && !a.Interactive():
		return &problem.Error{Code: "INVITE-NOBODY", What: "comparing the digits of the pairing needs a person at a terminal", Fix: "run it in a terminal, with the invite pasted or as its argument, or add --yes to pair without comparing"}
	}
	c, done, err := a.Online()
	if err != nil {
		return err
	}
	defer done()
	p, err := c.Join(ctx, api.JoinRequest{Invite: in.String(), Name: f.name, Yes: f.yes})
	if err != nil {
		return ended(ctx, err)
	}
	tell := func(q api.PairingQuestion) {
		if in.Seat != "" {
			a.Note("the invite is for the seat %s of room %s", term.Line(in.Seat), term.Line(in.Room))
		}
		fmt.Fprintf(a.Stderr, "pairing with %s\n  digits  %s   (the other side must see the same)\n", term.Line(q.Name), q.Digits)
	}
	err = a.followPairing(ctx, p, pairingWords{
		ask: func(ctx context.Context, q api.PairingQuestion) bool {
			tell(q)
			return a.Agree(ctx, "does the other owner see the same digits? [y/N] ")
		},
		agreed: func(q api.PairingQuestion) {
			if f.yes {
				tell(q)
			}
			a.Note("waiting for %s to accept", term.Line(q.Name))
		},
	})
	if err != nil || in.Seat == "" || f.noAwait {
		return err
	}
	return seatcmd.Take(ctx, a.App, c, in.Room, in.Seat)
}

const maxInviteText = 4096

func (a *commands) readInvite(args []string) (identity.Invite, error) {
	text := strings.Join(args, "")
	if text == "" || text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.Stdin, maxInviteText))
		if err != nil {
			return identity.Invite{}, fmt.Errorf("reading the invite: %w", err)
		}
		text = string(b)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") { // a line of `moot invite -o jsonl`
		var p Pairing
		if json.Unmarshal([]byte(strings.SplitN(strings.TrimSpace(text), "\n", 2)[0]), &p) == nil {
			text = p.Invite
		}
	}
	return device.ParseInvite(text)
}
