package relaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/endpoints/relay/share"
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
	w := a.Wiring()
	book, err := w.OpenAudit()
	if err != nil {
		return err
	}
	defer book.Close()
	share, err := w.Share(book, names)
	if err != nil {
		return err
	}
	d, err := w.Device()
	if err != nil {
		return err
	}
	c, err := d.Connect(ctx, device.Options{Relay: f.url, Name: f.name, Share: share})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Await(ctx); err != nil {
		return ended(ctx, err)
	}
	if err := c.AwaitAgents(ctx); err != nil {
		return ended(ctx, err)
	}
	s := sharing{Device: d.Self.ID().String(), Spoken: d.Self.ID().Display(), Relays: c.URLs}
	for _, p := range share.Agents {
		s.Profiles = append(s.Profiles, p.Profile.Name)
	}
	if err := a.Emit(s, func(w io.Writer) error { return printSharing(w, s) }); err != nil {
		return err
	}
	a.warnOfNobody(share.Agents)
	select {
	case <-ctx.Done():
		return nil
	case <-c.Done():
		return c.Err()
	}
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

func (a *commands) warnOfNobody(serve []share.AgentConfig) {
	for _, s := range serve {
		if !s.Profile.Allow || len(s.Profile.Devices) == 0 {
			a.Note("no device may call profile %s: set allowSharedAgentCalls and allowedSharedDeviceIds", s.Profile.Name)
		}
	}
}
