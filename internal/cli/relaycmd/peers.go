package relaycmd

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// newPeersCmd holds what concerns devices of others.
func newPeersCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{Use: "peers", Short: "Manage the devices that this one is paired with"}
	return a.Group(cmd, newPeersLsCmd(a), newPeersRmCmd(a), newPeersRenameCmd(a), newPeersVerifyCmd(a), newPeersSelfCmd(a))
}

func newPeersLsCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the devices that this one is paired with",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			peers, err := a.Wiring().Peers()
			if err != nil {
				return err
			}
			all, err := peers.List()
			if err != nil {
				return err
			}
			lines := []api.Peer{}
			for _, p := range all {
				lines = append(lines, api.PeerOf(p))
			}
			return a.Emit(lines, func(w io.Writer) error { return printPeers(w, all) })
		},
	}
}

func printPeers(w io.Writer, all []identity.Peer) error {
	rows := make([][]string, len(all))
	for i, p := range all {
		state := "paired"
		switch {
		case p.Suspended():
			state = "NEW KEYS"
		case !p.Verified.IsZero():
			state = "verified"
		}
		rows[i] = []string{p.Name, state, p.Grant.String(), p.ID.String(), p.Relay}
	}
	return app.Table(w, []string{"NAME", "STATE", "GRANT", "DEVICE", "RELAY"}, rows)
}

// onPeer makes a command about one peer.
func (a *commands) onPeer(cmd *cobra.Command, more int, do func(*identity.Peers, identity.Peer, []string) (identity.Peer, error)) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1 + more)
	cmd.ValidArgsFunction = a.completePeers
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		peers, err := a.Wiring().Peers()
		if err != nil {
			return err
		}
		p, err := peers.Find(args[0])
		if err != nil {
			return err
		}
		if p, err = do(peers, p, args[1:]); err != nil {
			return err
		}
		return a.Emit(api.PeerOf(p), func(w io.Writer) error { return printPeers(w, []identity.Peer{p}) })
	}
	return cmd
}

// completePeers completes names of peers.
func (a *commands) completePeers(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 && a.Begin(cmd, nil) == nil {
		if peers, err := a.Wiring().Peers(); err == nil {
			all, _ := peers.List() // completion says nothing of errors
			for _, p := range all {
				names = append(names, p.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func newPeersRmCmd(a *commands) *cobra.Command {
	return a.onPeer(&cobra.Command{
		Use:     "rm PEER",
		Short:   "Remove a device: it is no longer paired, also for running processes",
		Example: "  moot peers rm bob",
	}, 0, func(peers *identity.Peers, p identity.Peer, _ []string) (identity.Peer, error) {
		return p, peers.Remove(p.ID)
	})
}

func newPeersRenameCmd(a *commands) *cobra.Command {
	return a.onPeer(&cobra.Command{
		Use:     "rename PEER NAME",
		Short:   "Rename a device; only you see the name",
		Example: "  moot peers rename laptop bob",
	}, 1, func(peers *identity.Peers, p identity.Peer, args []string) (identity.Peer, error) {
		if err := peers.Rename(p.ID, args[0]); err != nil {
			return p, err
		}
		return peers.Lookup(p.ID)
	})
}

func newPeersVerifyCmd(a *commands) *cobra.Command {
	var yes bool
	cmd := a.onPeer(&cobra.Command{
		Use:   "verify PEER",
		Short: "Compare the digits of a pairing, and accept a device's new keys",
		Long: "verify shows the twelve digits of the pairing with a device. Have its owner read\n" +
			"theirs to you, by voice: the same digits mean that nobody sits between. With your\n" +
			"yes the device counts as verified, and one whose keys had changed is spoken to\n" +
			"again.",
		Example: "  moot peers verify bob",
	}, 0, func(peers *identity.Peers, p identity.Peer, _ []string) (identity.Peer, error) {
		fmt.Fprintf(a.Stderr, "%s\n  device  %s\n  digits  %s\n", p.Name, p.ID.Display(), p.Digits)
		if !yes && !a.Agree(context.Background(), "does the other owner read the same digits? [y/N] ") {
			return p, &problem.Error{Code: "PEER-UNVERIFIED", What: "the digits were not confirmed, so nothing has changed", Fix: "compare them by voice; if they differ, `moot peers rm` and pair again"}
		}
		if err := peers.Verify(p.ID, time.Now()); err != nil {
			return p, err
		}
		return peers.Lookup(p.ID)
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "they have been compared")
	return cmd
}

func newPeersSelfCmd(a *commands) *cobra.Command {
	return &cobra.Command{
		Use:   "self",
		Short: "Print this device's id, which others allow",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := a.Wiring().Device()
			if err != nil {
				return err
			}
			id := d.Self.ID()
			return a.EmitText(map[string]string{"device": id.String(), "spoken": id.Display()}, "%s\n%s\n", id, id.Display())
		},
	}
}
