package cli

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/server"
	"github.com/folkmoot/moot/problem"
)

// relayConfig reads everything that a relay is told, but for its names.
func (a *app) relayConfig(f relayFlags) (cfg server.Config, err error) {
	cfg = server.Config{Open: f.open, Limits: f.limits, Log: a.log, LogPeers: f.logPeers}
	if cfg.Tokens, err = relayTokens(f.Tokens); err != nil {
		return cfg, err
	}
	if cfg.Devices, err = relayDevices(f.Devices, f.allow); err != nil {
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
	cfg.TLS, err = relayTLS(f.Cert, f.Key)
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

// maxRelayFile bounds the files that a relay reads.
const maxRelayFile = 1 << 20

// relayTokens reads the file of tokens. Others must not be able to read it.
func relayTokens(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	st, err := os.Stat(path)
	if err == nil && st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &problem.Error{Code: "RELAY-TOKENS", What: fmt.Sprintf("others may read the tokens: the file has mode %04o", st.Mode().Perm()), Where: path, Fix: "chmod 600 " + path}
	}
	tokens, err := relayLines(path)
	if err != nil {
		return nil, &problem.Error{Code: "RELAY-TOKENS", What: "the tokens cannot be read", Where: path, Fix: "(umask 077; head -c 24 /dev/urandom | base64 >" + path + ") writes one", Err: err}
	}
	for i, t := range tokens {
		if len(t.text) < server.MinToken || len(t.text) > frame.MaxToken {
			return nil, &problem.Error{Code: "RELAY-TOKENS", What: fmt.Sprintf("token %d is shorter than %d or longer than %d characters", i+1, server.MinToken, frame.MaxToken), Where: fmt.Sprintf("%s:%d", path, t.number), Fix: "head -c 24 /dev/urandom | base64 makes one"}
		}
	}
	return texts(tokens), nil
}

// relayDevices reads the devices of the file and of --allow.
func relayDevices(path string, allow []string) (ids []frame.ID, err error) {
	var lines []relayLine
	if path != "" {
		if lines, err = relayLines(path); err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "the devices cannot be read", Where: path, Fix: "write one device id a line", Err: err}
		}
	}
	for _, l := range lines {
		id, err := identity.ParseDeviceID(l.text)
		if err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "this line is no device id", Where: fmt.Sprintf("%s:%d", path, l.number), Fix: "write one device id a line", Err: err}
		}
		ids = append(ids, frame.ID(id))
	}
	for _, text := range allow {
		id, err := identity.ParseDeviceID(text)
		if err != nil {
			return nil, &problem.Error{Code: "RELAY-DEVICES", What: "--allow names no device", Fix: "give it a device id", Err: err}
		}
		ids = append(ids, frame.ID(id))
	}
	return ids, nil
}

// A relayLine is a line that says something.
type relayLine struct {
	number int
	text   string
}

func texts(lines []relayLine) (all []string) {
	for _, l := range lines {
		all = append(all, l.text)
	}
	return all
}

// relayLines reads a file without its comments and empty lines.
func relayLines(path string) (lines []relayLine, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) > maxRelayFile {
		return nil, fmt.Errorf("over %d bytes", maxRelayFile)
	}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		if t := strings.TrimSpace(sc.Text()); t != "" && !strings.HasPrefix(t, "#") {
			lines = append(lines, relayLine{n, t})
		}
	}
	return lines, sc.Err()
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

// relayTLS reads the certificate, and again when its file has changed.
func relayTLS(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case cert == "" || key == "":
		return nil, &problem.Error{Code: "RELAY-CERT", What: "a certificate needs its key, and a key its certificate", Fix: "give both --cert and --key"}
	}
	c := &certificate{cert: cert, key: key}
	if _, err := c.get(nil); err != nil {
		return nil, &problem.Error{Code: "RELAY-CERT", What: "the certificate cannot be used", Where: cert, Fix: "both files are PEM, and the key is the certificate's", Err: err}
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS13}, nil
}
