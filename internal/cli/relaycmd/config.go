package relaycmd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/problem"
)

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
	if err := checkRelayLimits(f.limits); err != nil {
		return cfg, err
	}
	cfg.TLS, err = server.LoadTLS(f.Cert, f.Key)
	return cfg, err
}

// checkRelayLimits refuses what would be taken for a default.
func checkRelayLimits(l server.Limits) error {
	for name, n := range map[string]int{
		"max-connections": l.Connections, "max-per-address": l.PerAddress, "logins-per-minute": l.LoginsPerMinute, "login-burst": l.LoginBurst,
		"bytes-per-second": l.BytesPerSecond, "burst-bytes": l.BurstBytes, "frames-per-second": l.FramesPerSecond, "burst-frames": l.BurstFrames,
		"queue-frames": l.QueueFrames, "queue-bytes": l.QueueBytes, "total-bytes": l.TotalBytes, "knocks-per-minute": l.StrangerFramesPerMinute,
	} {
		if n < 1 || n > 1<<31-1 {
			return relayAddress(fmt.Sprintf("--%s is %d", name, n), "a limit is a whole number above 0 and below 2^31")
		}
	}
	return nil
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
