package relaycmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/session"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

type inviteFlags struct {
	shareFlags
	auto    bool
	noWait  bool
	grant   string
	room    string
	expires time.Duration
}

// newInviteCmd makes an invite and waits for the device that uses it.
func newInviteCmd(a *commands) *cobra.Command {
	var f inviteFlags
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Pair this device with another owner's: print an invite and wait for its answer",
		Long: "invite prints a text for one other owner, who gives it to `moot join`. It is a\n" +
			"secret: anyone who has it can use it once, within 15 minutes. Send it on a\n" +
			"private way. When the other device asks to pair, you see its name and twelve\n" +
			"digits. They are the same on both sides unless an attacker is between you. You\n" +
			"then accept or refuse the device; --auto accepts the first that has the invite.\n" +
			"The other owner is asked too, and both devices store nothing before both have\n" +
			"agreed.\n\n" +
			"Pairing allows nothing by itself: what devices may do is under profiles: of the\n" +
			"settings file.",
		Example: "  moot invite --relay wss://relay.example.org\n  moot invite --auto >invite.txt\n  moot invite --grant observer",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.invite(cmd.Context(), f) },
	}
	app.Formats(cmd, app.FormatTable, app.FormatJSONL)
	f.add(cmd)
	cmd.Flags().BoolVar(&f.auto, "auto", false, "accept the device that uses the invite, without asking")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "only print it; a running share answers it: needs --auto")
	cmd.Flags().StringVar(&f.grant, "grant", identity.GrantAgent.String(), "what the device may be: agent or observer")
	cmd.Flags().StringVar(&f.room, "room", "", "id of the room that it is for; default: any")
	cmd.Flags().DurationVar(&f.expires, "expires", 15*time.Minute, "how long the invite is good for")
	return cmd
}

// A Pairing is what becomes of an invite: two lines of -o jsonl.
type Pairing struct {
	Invite  string     `json:"invite,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	Peer    *peerLine  `json:"peer,omitempty"`
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
	d, err := a.Wiring().Device()
	if err != nil {
		return err
	}
	asked, done, failed := make(chan question, 1), make(chan identity.Peer, 8), make(chan error, 8)
	told := func(p identity.Peer) {
		select {
		case done <- p:
		default: // an invite has few uses
		}
	}
	unpaired := func(_ identity.DeviceID, err error) {
		select {
		case failed <- err:
		default:
		}
	}
	var c *device.Connection
	var urls []string
	if !f.noWait {
		if c, err = d.Connect(ctx, device.Options{Relay: f.url, Name: f.name, Admit: admitter(asked), Paired: told, Unpaired: unpaired}); err != nil {
			return err
		}
		defer c.Close()
		if err := c.Await(ctx); err != nil {
			return ended(ctx, err)
		}
		urls = c.URLs
	} else if urls, err = d.Relays(f.url); err != nil {
		return err
	}
	now := time.Now()
	in, err := identity.NewInvite(d.Self, identity.Invite{Relay: urls[0], Grant: grant, Room: f.room, Auto: f.auto, Expires: now.Add(f.expires)}, now)
	if err != nil {
		return err
	}
	if err := d.Invites.Add(in, now); err != nil {
		return err
	}
	if err := a.EmitText(Pairing{Invite: in.String(), Expires: &in.Expires}, "%s\n", in); err != nil || f.noWait {
		return err
	}
	a.Note("give it to one person, who runs `moot join`; waiting until %s", in.Expires.Local().Format("15:04:05"))
	peer, err := a.paired(ctx, c, in, asked, done, failed)
	if err != nil {
		return errors.Join(ended(ctx, err), d.Invites.Remove(in.ID))
	}
	return a.sayPaired(peer)
}

// A question is whether to accept a newcomer.
type question struct {
	session.JoinRequest
	ctx    context.Context // ends when the question is void
	answer chan<- bool
}

// admitter passes join requests to the goroutine that can ask the user.
func admitter(asked chan<- question) func(context.Context, session.JoinRequest) bool {
	return func(ctx context.Context, n session.JoinRequest) bool {
		answer := make(chan bool, 1)
		select {
		case asked <- question{n, ctx, answer}:
		case <-ctx.Done():
			return false
		}
		select {
		case yes := <-answer:
			return yes
		case <-ctx.Done():
			return false
		}
	}
}

// refusalTime is how long a refusal may take to leave.
const refusalTime = time.Second

// A device that was paired says so to the other before it goes offline; should
// that be lost on the way, the other does not wait for long.
const (
	ackTime     = 250 * time.Millisecond
	pairedEvery = 100 * time.Millisecond
	settleTime  = 5 * time.Second
)

// paired waits until a device has used the invite, is a peer, and knows it.
func (a *commands) paired(ctx context.Context, c *device.Connection, in identity.Invite, asked <-chan question, done <-chan identity.Peer, failed <-chan error) (identity.Peer, error) {
	end, tick := time.NewTimer(time.Until(in.Expires)), time.NewTicker(pairedEvery)
	defer end.Stop()
	defer tick.Stop()
	begun := time.Now().UTC().Add(-time.Second)
	var refused, settled <-chan time.Time
	var peer identity.Peer
	for {
		select {
		case p := <-done:
			return p, c.SetRelay(p.ID, in.Relay)
		case <-settled:
			return peer, c.SetRelay(peer.ID, in.Relay)
		case <-tick.C: // in the store it is before the other side knows
			all, err := c.Peers.List()
			if err != nil {
				return peer, err
			}
			for _, p := range all {
				if settled == nil && p.Created.After(begun) {
					peer, settled = p, time.After(settleTime)
				}
			}
		case err := <-failed:
			if errors.Is(err, session.ErrDeclined) {
				return identity.Peer{}, &problem.Error{Code: "INVITE-REFUSED", What: "the other owner has refused to pair the devices", Fix: "ask them; if the digits differed, an attacker may have the invite: make another and send it on another way", Kind: session.ErrDeclined}
			}
			if errors.Is(err, identity.ErrRevoked) {
				return identity.Peer{}, err
			}
			a.Note("a device has used the invite and was not paired: %v", err)
		case <-refused:
			return identity.Peer{}, &problem.Error{Code: "INVITE-REFUSED", What: "you have refused the device that used the invite", Fix: "make another invite for the right device: `moot invite`"}
		case <-ctx.Done():
			return identity.Peer{}, ctx.Err()
		case <-c.Done():
			return identity.Peer{}, cmp.Or(c.Err(), context.Canceled)
		case q := <-asked:
			yes := a.accept(q.ctx, q.JoinRequest)
			q.answer <- yes
			if q.ctx.Err() != nil { // failed says why
				continue
			}
			if !yes { // the invite is used up; the other side is still to be told
				refused = time.After(refusalTime)
				continue
			}
			a.Note("waiting for the other owner to agree too")
		case <-end.C:
			return identity.Peer{}, &problem.Error{Code: "INVITE-EXPIRED", What: "nobody has used the invite in time", Fix: "make another: `moot invite`"}
		}
	}
}

// accept asks the user.
func (a *commands) accept(ctx context.Context, n session.JoinRequest) bool {
	fmt.Fprintf(a.Stderr, "%s wants to be paired as %s\n  device  %s\n  digits  %s   (the other side must see the same)\n",
		term.Line(n.Name), n.Grant, n.ID.Display(), n.Digits)
	return a.Agree(ctx, "accept? [y/N] ")
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
			"--yes agrees without asking, for scripts that pair devices of one owner.",
		Example: "  moot join\n  moot join mootinv1.q83v...\n  moot join --yes <invite.txt",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.join(cmd.Context(), args, f) },
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree without comparing the digits")
	cmd.Flags().StringVar(&f.name, "name", "", "what this device calls itself to the other; default: the machine's name")
	return cmd
}

type joinFlags struct {
	name string
	yes  bool
}

func (a *commands) join(ctx context.Context, args []string, f joinFlags) error {
	in, err := a.readInvite(args)
	switch {
	case err != nil:
		return err
	case !in.Commitment:
		return inviteProblem(session.ErrOldRelease)
	case !f.yes && !a.Interactive():
		return &problem.Error{Code: "INVITE-NOBODY", What: "comparing the digits of the pairing needs a person at a terminal", Fix: "run it in a terminal, with the invite pasted or as its argument, or add --yes to pair without comparing"}
	}
	d, err := a.Wiring().Device()
	if err != nil {
		return err
	}
	c, err := d.Connect(ctx, device.Options{Relay: in.Relay, Name: f.name})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Await(ctx); err != nil {
		return ended(ctx, err)
	}
	stop := a.noteOffline(c, in.Host.ID, "the device that made the invite")
	peer, err := c.Link.Join(ctx, in, []string{"turn", "bid"}, func(ctx context.Context, w session.AwaitingApproval) bool {
		return a.compare(ctx, w, f.yes)
	})
	stop()
	if err != nil {
		app.SleepFor(ctx, ackTime) // the other side learns that this one knows
		return errors.Join(c.Err(), inviteProblem(err))
	}
	if err := d.SetRelay(peer.ID, in.Relay); err != nil {
		return err
	}
	app.SleepFor(ctx, ackTime)
	return a.sayPaired(peer)
}

// offlineEvery is how often noteOffline looks.
const offlineEvery = 100 * time.Millisecond

// noteOffline tells the user, until stop is called, when a device is not
// connected to the relay.
func (a *commands) noteOffline(c *device.Connection, id identity.DeviceID, name string) (stop func()) {
	quit := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		ticker := time.NewTicker(offlineEvery)
		defer ticker.Stop()
		for was := false; ; {
			select {
			case <-quit:
				return
			case <-ticker.C:
			}
			now := c.Offline(id)
			if now && !was {
				a.Note("%s is not connected to the relay; waiting for it", name)
			}
			was = now
		}
	})
	return func() { close(quit); work.Wait() }
}

// compare asks the user whether the other owner sees the same digits.
func (a *commands) compare(ctx context.Context, w session.AwaitingApproval, yes bool) bool {
	fmt.Fprintf(a.Stderr, "pairing with %s\n  digits  %s   (the other side must see the same)\n", term.Line(w.Host), w.Digits)
	if yes = yes || a.Agree(ctx, "does the other owner see the same digits? [y/N] "); yes {
		a.Note("waiting for %s to accept", term.Line(w.Host))
	}
	return yes
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
	in, err := identity.ParseInvite(text)
	if err != nil {
		return in, inviteProblem(err)
	}
	return in, nil
}

// inviteProblem makes errors of pairing ones with a fix.
func inviteProblem(err error) error {
	for kind, p := range map[error]problem.Error{
		identity.ErrInvite:        {Code: "INVITE-INVALID", What: "this is no invite", Fix: "copy the whole text that starts with mootinv1."},
		identity.ErrInviteExpired: {Code: "INVITE-EXPIRED", What: "the invite has expired", Fix: "ask for another"},
		identity.ErrInviteUsed:    {Code: "INVITE-USED", What: "the invite has been used", Fix: "ask for another; if it was not you, tell the other owner"},
		session.ErrRefused:        {Code: "INVITE-REFUSED", What: "the other owner has refused", Fix: "ask them, and compare the digits"},
		session.ErrDeclined:       {Code: "INVITE-REFUSED", What: "you have refused the pairing, so nothing is stored", Fix: "if the digits differed, an attacker may have the invite: ask for another on another way"},
		session.ErrOldRelease:     {Code: "INVITE-OLD", What: "the other device has an older release of moot, in which an attacker could forge the digits", Fix: "update moot there, and ask for another invite"},
		session.ErrNoAnswer:       {Code: "INVITE-EXPIRED", What: "the owners have not both agreed in time", Fix: "ask for another invite"},
		session.ErrUnreachable:    {Code: "INVITE-UNREACHABLE", What: "the device that made the invite cannot be reached", Fix: "see that `moot invite` waits there"},
	} {
		if errors.Is(err, kind) {
			p.Err, p.Kind = err, kind
			return &p
		}
	}
	return err
}

func (a *commands) sayPaired(p identity.Peer) error {
	l := peerOf(p)
	return a.EmitText(Pairing{Peer: &l}, "paired with %s, device %s\n", p.Name, p.ID)
}
