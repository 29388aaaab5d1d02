package relaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/config"
)

type shareFlags struct{ url, name string }

// newShareCmd serves agents of this device to other owners.
func newShareCmd(a *commands) *cobra.Command {
	var f shareFlags
	cmd := &cobra.Command{
		Use:   "share [PROFILE...]",
		Short: "Let other owners' rooms use your agents, through a relay",
		Long: "share serves the agents of profiles: in the settings file to the devices that\n" +
			"each of them allows, all profiles with an endpoint when none is named, until it\n" +
			"is told to end. Nothing is allowed unless a profile says so:\n\n" +
			"  profiles:\n" +
			"    - name: reviewer\n" +
			"      endpoint: {kind: ndjson, command: [python3, ./reviewer.py]}\n" +
			"      allowSharedAgentCalls: true\n" +
			"      allowedSharedDeviceIds: [mfz3...]        # of `moot peers ls`\n\n" +
			"Your agent gets the text of other rooms as quoted data that is not from you.\n" +
			"It runs once for each request: killed and started again, share answers what was\n" +
			"under way with `interrupted`. The host log holds every request.",
		Example: "  moot share\n  moot share reviewer --relay wss://relay.example.org",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.share(cmd.Context(), args, f) },
	}
	f.add(cmd)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.profileNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (f *shareFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "relay", "", "URL of the relay; default: relay.url of the settings, else where the devices were paired")
	cmd.Flags().StringVar(&f.name, "name", "", "what this device calls itself to others; default: the machine's name")
}

// profileNames completes names of profiles.
func (a *commands) profileNames() (names []string) {
	settings, _, err := config.LoadSettings(nil)
	if err != nil {
		return nil
	}
	for _, p := range settings.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// A sharing is what share is doing.
type sharing struct {
	Device   string   `json:"device"`
	Spoken   string   `json:"spoken"` // with check characters, for people
	Relays   []string `json:"relays"`
	Profiles []string `json:"profiles"`
}

func (a *commands) share(ctx context.Context, names []string, f shareFlags) error {
	c, done, err := a.Online()
	if err != nil {
		return err
	}
	defer done()
	err = c.Share(ctx, api.ShareRequest{Profiles: names, Relay: f.url, Name: f.name}, func(s api.Share) error {
		l := sharing{Device: s.Device, Spoken: s.Spoken, Relays: s.Relays, Profiles: s.Profiles}
		err := a.Emit(l, func(w io.Writer) error { return printSharing(w, l) })
		for _, name := range s.Unused {
			a.Note("no device may call profile %s: set allowSharedAgentCalls and allowedSharedDeviceIds", name)
		}
		return err
	})
	return ended(ctx, err)
}

// ended makes the end that was asked for no failure.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func printSharing(w io.Writer, s sharing) error {
	fmt.Fprintf(w, "device   %s\n         %s\n", s.Device, s.Spoken)
	for _, r := range s.Relays {
		fmt.Fprintf(w, "relay    %s\n", r)
	}
	for _, p := range s.Profiles {
		fmt.Fprintf(w, "profile  %s\n", p)
	}
	return nil
}
