package relaycmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/problem"
)

// relayFlags are what the command line says of a relay.
type relayFlags struct {
	config.Relay
	allow, proxies        []string
	open, plain, logPeers bool
	limits                server.Limits
}

// newRelayCmd runs a relay.
func newRelayCmd(a *commands) *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Run a relay that connects devices of several owners",
		Long: "relay passes on what devices send each other, end to end encrypted: it can read\n" +
			"none of it. It lets in only devices that it is told of, or that have a token.\n" +
			"Its URL goes to stdout when it is ready. An interrupt ends it gracefully: devices\n" +
			"are told to come back. At SIGHUP it reads the files of tokens and devices again,\n" +
			"and disconnects devices that may not log in any more.\n\n" +
			"Without a certificate it listens on this machine only, for a proxy in front.\n\n" +
			"With --nats, all relays that use the same NATS servers are one: devices reach each\n" +
			"other whichever of them they are connected to. A path in the URL names the group,\n" +
			"so that several groups can use the same servers. NATS carries what the relay does:\n" +
			"encrypted frames and ids of devices. A password is better in MOOT_RELAY_NATS or in\n" +
			"relay.nats of the settings file, because other users can see arguments.",
		Example: "  moot relay --open\n" +
			"  moot relay --host relay.example.org --tokens tokens.txt\n" +
			"  moot relay --listen :443 --host relay.example.org --cert cert.pem --key key.pem --devices devices.txt\n" +
			"  moot relay --host relay.example.org --tokens tokens.txt --nats nats://one:4222,nats://two:4222",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.fillIn(cmd, a.Settings.Relay)
			return a.relay(cmd.Context(), f)
		},
	}
	f.define(cmd)
	return cmd
}

func (f *relayFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Listen, "listen", "", "address to listen on; port 0 takes any that is free (default "+config.DefaultRelayListen+")")
	fl.StringVar(&f.Host, "host", "", "name in the relay's URL, with the port when the URL has one; logins are bound to it")
	fl.StringVar(&f.Tokens, "tokens", "", "file of tokens, one a line: a device that has one is let in")
	fl.StringVar(&f.Devices, "devices", "", "file of device ids, one a line: these are let in")
	fl.StringArrayVar(&f.allow, "allow", nil, "a device id that is let in; can be repeated")
	fl.BoolVar(&f.open, "open", false, "let every device in")
	fl.StringVar(&f.Cert, "cert", "", "file of the TLS certificate, in PEM; read again when it changes")
	fl.StringVar(&f.Key, "key", "", "file of its key, in PEM")
	fl.BoolVar(&f.plain, "plain", false, "listen without TLS on other than loopback addresses too, as for a proxy on another machine")
	fl.StringArrayVar(&f.proxies, "trusted-proxy", nil, "network of a proxy whose X-Forwarded-For is believed, as 10.0.0.0/8; can be repeated")
	fl.StringVar(&f.Metrics, "metrics", "", "address to serve counters for Prometheus on, at /metrics (default none)")
	fl.StringVar(&f.NATS, "nats", "", "URL of the NATS servers that make several relays one, as nats://one:4222,nats://two:4222/group")
	fl.BoolVar(&f.logPeers, "log-peers", false, "also log which device sends to which, under names that change daily, at level debug")
	f.defineLimits(cmd)
	for _, name := range []string{"tokens", "devices", "cert", "key"} {
		_ = cmd.MarkFlagFilename(name) // the flag is there
	}
}

func (f *relayFlags) defineLimits(cmd *cobra.Command) {
	f.limits = server.DefaultLimits()
	for _, l := range limitFlags(&f.limits) {
		cmd.Flags().IntVar(l.value, l.name, *l.value, l.usage)
	}
}

// A limitFlag is the flag of one limit.
type limitFlag struct {
	name  string
	value *int
	usage string
}

// limitFlags lists the flags that set l.
func limitFlags(l *server.Limits) []limitFlag {
	return []limitFlag{
		{"max-connections", &l.Connections, "devices in all"},
		{"max-per-address", &l.PerAddress, "devices of one address"},
		{"max-half-open", &l.HalfOpen, "connections in all that have not logged in yet"},
		{"max-half-open-per-address", &l.HalfOpenPerAddress, "connections of one address that have not logged in yet"},
		{"logins-per-minute", &l.LoginsPerMinute, "failed logins of one address"},
		{"login-burst", &l.LoginBurst, "failed logins of one address at once"},
		{"bytes-per-second", &l.BytesPerSecond, "read from one connection"},
		{"burst-bytes", &l.BurstBytes, "read from one connection at once"},
		{"frames-per-second", &l.FramesPerSecond, "read from one connection"},
		{"burst-frames", &l.BurstFrames, "read from one connection at once"},
		{"queue-frames", &l.QueueFrames, "frames that wait for one device"},
		{"queue-bytes", &l.QueueBytes, "bytes that wait for one device"},
		{"total-bytes", &l.TotalBytes, "bytes that wait for all devices"},
		{"knocks-per-minute", &l.StrangerFramesPerMinute, "frames of a device to one that has not written to it"},
	}
}

// fillIn takes from the settings what no flag says.
func (f *relayFlags) fillIn(cmd *cobra.Command, s config.Relay) {
	for _, p := range []struct {
		flag string
		have *string
		set  string
	}{
		{"listen", &f.Listen, s.Listen},
		{"host", &f.Host, s.Host},
		{"tokens", &f.Tokens, s.Tokens},
		{"devices", &f.Devices, s.Devices},
		{"cert", &f.Cert, s.Cert},
		{"key", &f.Key, s.Key},
		{"metrics", &f.Metrics, s.Metrics},
		{"nats", &f.NATS, s.NATS},
	} {
		if !cmd.Flags().Changed(p.flag) {
			*p.have = p.set
		}
	}
}

// A RunningRelay is what a relay says when it is ready.
type RunningRelay struct {
	URL     string `json:"url"`
	Host    string `json:"host"`   // that logins are bound to
	Access  string `json:"access"` // open, or private
	Metrics string `json:"metrics,omitempty"`
	NATS    string `json:"nats,omitempty"` // without the password
}

// relay runs a relay until ctx ends.
func (a *commands) relay(ctx context.Context, f relayFlags) error {
	cfg, err := a.relayConfig(f)
	if err != nil {
		return err
	}
	l, err := listenRelay(f.Listen)
	if err != nil {
		return err
	}
	defer l.Close() // when something else fails; Serve closes it too
	u, hosts, err := f.urls(l.Addr())
	if err != nil {
		return err
	}
	cfg.Hosts = hosts
	r := RunningRelay{URL: u, Host: hosts[0], Access: "private"}
	if f.NATS != "" {
		b, err := a.Wiring().RelayBus(bus.Config{URL: f.NATS, Log: a.Log})
		if err != nil {
			return err
		}
		defer b.Close()
		cfg.Bus, r.NATS = b, config.HidePassword(f.NATS)
	}
	s, err := a.Wiring().Relay(cfg)
	if err != nil {
		return relayProblem(err)
	}
	a.OnHangup(func() { a.reload(f, s) })
	if f.open {
		r.Access = "open"
	}
	stop, err := a.relayMetrics(f, s, &r)
	if err != nil {
		return err
	}
	defer stop()
	if err := a.EmitText(r, "%s\n", u); err != nil {
		return err
	}
	if err := s.Serve(ctx, l); err != nil {
		return &problem.Error{Code: "RELAY-LISTEN", What: "the relay cannot go on listening", Where: f.Listen, Err: err}
	}
	return nil
}

// reload reads tokens and devices again. When they cannot be used, those in use
// stay.
func (a *commands) reload(f relayFlags, s *server.Server) {
	tokens, err := server.ReadTokens(f.Tokens)
	var devices []frame.ID
	if err == nil {
		devices, err = server.ReadDevices(f.Devices, f.allow)
	}
	if err == nil {
		err = relayProblem(s.SetAccess(tokens, devices))
	}
	if err != nil {
		a.Note("tokens and devices stay as they were, because the files cannot be used: %v", err)
		return
	}
	a.Note("read again: %d tokens, %d devices", len(tokens), len(devices))
}

func listenRelay(address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, relayAddress("no address to listen on: "+address, "write it as 127.0.0.1:7447, or :443 for all addresses")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-LISTEN", What: "cannot listen", Where: address, Fix: "choose another address with --listen; port 0 takes any that is free", Err: err}
	}
	return l, nil
}

// relayMetrics serves the counters, where they are wanted, until stop is
// called.
func (a *commands) relayMetrics(f relayFlags, s *server.Server, r *RunningRelay) (stop func(), err error) {
	if f.Metrics == "" {
		return func() {}, nil
	}
	l, err := listenRelay(f.Metrics)
	if err != nil {
		return nil, err
	}
	r.Metrics = "http://" + l.Addr().String() + "/metrics"
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.Metrics())
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	var served sync.WaitGroup
	served.Go(func() {
		if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.Log.Error("the counters are served no longer", "err", err)
		}
	})
	return func() { h.Close(); served.Wait() }, nil
}

// relayConfig reads everything that a relay is told, but for its names.
func (a *commands) relayConfig(f relayFlags) (cfg server.Config, err error) {
	cfg = server.Config{Open: f.open, Limits: f.limits, Log: a.Log, LogPeers: f.logPeers}
	if cfg.Tokens, err = server.ReadTokens(f.Tokens); err != nil {
		return cfg, err
	}
	if cfg.Devices, err = server.ReadDevices(f.Devices, f.allow); err != nil {
		return cfg, err
	}
	if len(cfg.Tokens) == 0 && len(cfg.Devices) == 0 && !f.open {
		return cfg, relayProblem(server.ErrNoAccess)
	}
	for _, text := range f.proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return cfg, relayAddress("no network of a proxy: "+text, "write it as 10.0.0.0/8, or 192.0.2.7/32 for one address")
		}
		cfg.TrustedProxies = append(cfg.TrustedProxies, p)
	}
	for _, l := range limitFlags(&f.limits) {
		if *l.value < 1 || *l.value > math.MaxInt32 {
			return cfg, relayAddress(fmt.Sprintf("--%s is %d", l.name, *l.value), "a limit is a whole number above 0 and below 2^31")
		}
	}
	cfg.TLS, err = server.LoadTLS(f.Cert, f.Key)
	return cfg, err
}

// urls returns the relay's URL and the names that logins may be bound to.
func (f relayFlags) urls(addr net.Addr) (u string, hosts []string, err error) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return "", nil, relayAddress("no address to listen on: "+addr.String(), "give --listen HOST:PORT")
	}
	local := at.Addr().Unmap().IsLoopback()
	switch {
	case !local && f.Cert == "" && !f.plain:
		return "", nil, &problem.Error{
			Code: "RELAY-PLAIN", What: "without a certificate the relay does not listen on other than loopback addresses", Where: addr.String(),
			Fix: "give --cert and --key, or listen on 127.0.0.1 behind a proxy that has them, or allow it with --plain",
		}
	case f.Host == "" && !local:
		return "", nil, relayProblem(server.ErrNoHost)
	case f.Host == "":
		f.Host = addr.String()
		hosts = append(hosts, net.JoinHostPort("localhost", fmt.Sprint(at.Port())))
	case f.Cert != "" && at.Port() != 443 && !strings.Contains(strings.TrimSuffix(f.Host, "]"), ":"):
		f.Host = net.JoinHostPort(f.Host, fmt.Sprint(at.Port())) // the URL has the port, as no proxy changes it
	}
	scheme := "wss"
	if f.Cert == "" && (f.Host == addr.String() || f.plain) {
		scheme = "ws"
	}
	parsed, err := frame.ParseURL((&url.URL{Scheme: scheme, Host: f.Host}).String())
	if err != nil || parsed.Path != "" {
		return "", nil, &problem.Error{Code: "RELAY-HOST", What: fmt.Sprintf("no name of a relay: %.80q", f.Host), Fix: "write it as in the URL, without the scheme: relay.example.org or relay.example.org:7447"}
	}
	return parsed.String(), append([]string{frame.Host(parsed)}, hosts...), nil
}

func relayAddress(what, fix string) error {
	return &problem.Error{Code: "RELAY-ADDRESS", What: what, Fix: fix}
}

// relayProblem makes the server's errors ones with a fix.
func relayProblem(err error) error {
	switch {
	case errors.Is(err, server.ErrNoAccess):
		return &problem.Error{Code: "RELAY-ACCESS", What: err.Error(), Fix: "give --tokens FILE, --devices FILE or --allow ID; --open lets every device in", Kind: err}
	case errors.Is(err, server.ErrNoHost):
		return &problem.Error{Code: "RELAY-HOST", What: err.Error(), Fix: "give --host relay.example.org, as in its URL", Kind: err}
	}
	return err
}
