package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/share"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log/audit"
)

type shareFlags struct{ url, name string }

// newShareCmd serves agents of this device to other owners.
func newShareCmd(a *app) *cobra.Command {
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
			"      allow_shared_agent_calls: true\n" +
			"      allowed_shared_device_ids: [mfz3...]     # of `moot peers ls`\n\n" +
			"What other rooms say is handed to your agent as quoted data that is not from you.\n" +
			"It runs once for each request: killed and started again, share answers what was\n" +
			"under way with `interrupted`. Who asked for what is in the host log.",
		Example: "  moot share\n  moot share reviewer --relay wss://relay.example.org",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.share(cmd.Context(), args, f) },
	}
	formats(cmd, formatTable, formatJSON, formatJSONL)
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
func (a *app) profileNames() (names []string) {
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

func (a *app) share(ctx context.Context, names []string, f shareFlags) error {
	serve, err := a.served(names)
	if err != nil {
		return err
	}
	d, err := a.openDevice()
	if err != nil {
		return err
	}
	book, err := audit.Open(audit.Config{Dir: a.settings.Data})
	if err != nil {
		return err
	}
	defer book.Close()
	c, err := d.connect(ctx, online{url: f.url, name: f.name, share: sharer(serve, book)})
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.await(ctx); err != nil {
		return ended(ctx, err)
	}
	s := sharing{Device: d.self.ID().String(), Spoken: d.self.ID().Spoken(), Relays: c.urls}
	for _, p := range serve {
		s.Profiles = append(s.Profiles, p.Profile.Name)
	}
	if err := a.emit(s, func(w io.Writer) error { return printSharing(w, s) }); err != nil {
		return err
	}
	a.warnOfNobody(serve)
	select {
	case <-ctx.Done():
		return nil
	case <-c.ctx.Done():
		return c.refused()
	}
}

// sharer serves agents on a connection. The journal is opened by who is online:
// it has one writer.
func sharer(serve []share.AgentConfig, book *audit.Log) func(*connection) (*share.Share, error) {
	return func(c *connection) (s *share.Share, err error) {
		if c.journal, err = share.OpenJournal(filepath.Join(c.dir, "journal.jsonl")); err != nil {
			return nil, err
		}
		return share.New(share.Config{
			Self: c.self.ID(), Agents: serve, Journal: c.journal, Quota: c.quota, Name: c.nameOf, Log: c.app.log,
			Audit: func(q share.AuditEntry) error { return book.Append(auditOf(c.device, q)) },
		}), nil
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
	_, err := fmt.Fprintf(w, "device   %s\n         %s\n", s.Device, s.Spoken)
	for _, r := range s.Relays {
		if err == nil {
			_, err = fmt.Fprintf(w, "relay    %s\n", r)
		}
	}
	for _, p := range s.Profiles {
		if err == nil {
			_, err = fmt.Fprintf(w, "profile  %s\n", p)
		}
	}
	return err
}

func (a *app) warnOfNobody(serve []share.AgentConfig) {
	for _, s := range serve {
		if !s.Profile.Allow || len(s.Profile.Devices) == 0 {
			a.note("profile %s is for nobody: set allow_shared_agent_calls and allowed_shared_device_ids", s.Profile.Name)
		}
	}
}

// served are the profiles to be shared.
func (a *app) served(names []string) (all []share.AgentConfig, err error) {
	for _, p := range a.settings.Profiles {
		if p.Endpoint == nil || len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		s, err := a.servedBy(p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s share.AgentConfig) bool { return s.Profile.Name == name }) {
			return nil, noProfile("no profile "+name+" with an endpoint", a.settings.File)
		}
	}
	if len(all) == 0 {
		return nil, noProfile("no profile with an endpoint", a.settings.File)
	}
	return all, nil
}

func noProfile(what, file string) error {
	return &problem.Error{Code: "SHARE-PROFILE", What: what, Where: file, Fix: "write one under profiles: with name, endpoint, allow_shared_agent_calls and allowed_shared_device_ids"}
}

func (a *app) servedBy(p config.Profile) (share.AgentConfig, error) {
	rules, err := rulesOf(p)
	if err != nil {
		return share.AgentConfig{}, err
	}
	e, err := config.ExpandEndpoint([]byte(p.Endpoint), p.Dir, lookup)
	if err != nil {
		return share.AgentConfig{}, &problem.Error{Code: "CONFIG-VALUE", What: "the endpoint of profile " + p.Name + " cannot be used", Where: a.settings.File, Fix: "see the cause", Err: err}
	}
	if e.Kind == config.KindRelay {
		return share.AgentConfig{}, &problem.Error{Code: "SHARE-PROFILE", What: "profile " + p.Name + " is another owner's agent", Where: a.settings.File, Fix: "let its own owner share it with whoever needs it"}
	}
	if e.Restart == 0 { // each start is for a request, and those are counted
		e.Restart = math.MaxInt
	}
	return share.AgentConfig{Profile: rules, Timeout: p.Timeout, Candid: p.Candid, Open: func(context.Context) (share.Agent, error) {
		return open(e, p.Name)
	}}, nil
}

// auditOf is what the host log keeps of a request of another device.
func auditOf(d *device, q share.AuditEntry) audit.Event {
	return audit.Event{
		Time: q.Time, Profile: q.Profile, Device: q.Device.String(), Requester: d.nameOf(q.Device), Room: q.Room, Turn: q.Turn,
		Mode: q.Mode, Status: q.Status, Reason: q.Reason, MS: int64(q.Took / time.Millisecond),
	}
}
