package server

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Config is what a relay is told. Without Tokens, Devices and Open nobody
// may log in.
type Config struct {
	// Hosts are the names that endpoints know the relay by, as frame.Host
	// returns them for its URLs. A login is valid for these only. The Host
	// header is not asked: it is the client's word.
	Hosts []string

	// A device of Devices needs no token; every other one needs one of Tokens.
	Tokens  []string
	Devices []frame.ID
	Open    bool // every device may log in

	// TLS, when set, is terminated here. Without it Serve speaks plain HTTP,
	// for a loopback address or a proxy in front.
	TLS *tls.Config

	// TrustedProxies are the addresses whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix

	Limits Limits

	// Log gets a record a connection, without payloads, tokens, addresses or
	// device ids. nil logs nothing.
	Log *slog.Logger

	// LogPeers adds who sends to whom, by shortened names, at level debug.
	LogPeers bool
}

// Limits bound what an endpoint can cost. Each zero means its default, never
// "unlimited".
type Limits struct {
	QueueFrames int // that wait for one destination: 32
	QueueBytes  int // that wait for one destination: 2 MiB
	TotalBytes  int // that wait for all destinations: 256 MiB

	BytesPerSecond  int // read from one connection: 256 KiB
	BurstBytes      int // 1 MiB
	FramesPerSecond int // read from one connection: 50
	BurstFrames     int // 100

	Connections             int // of all addresses: 4,096
	PerAddress              int // of one address, or of one IPv6 network of 64 bits: 64
	LoginsPerMinute         int // of one address: 10
	LoginBurst              int // 20
	StrangerFramesPerMinute int // frames of a stranger to one destination: 5

	LoginTimeout time.Duration // from the connection to the login: 5 s
	WriteTimeout time.Duration // for one frame: 3 s
	PingEvery    time.Duration // 25 s
	ReadTimeout  time.Duration // without a frame or a pong: 60 s
	RestartIn    time.Duration // up to which endpoints are spread when the relay ends: 3 s
}

// DefaultLimits returns what zeros in Limits stand for.
func DefaultLimits() Limits {
	return Limits{
		QueueFrames: 32, QueueBytes: 2 << 20, TotalBytes: 256 << 20,
		BytesPerSecond: 256 << 10, BurstBytes: 1 << 20, FramesPerSecond: 50, BurstFrames: 100,
		Connections: 4096, PerAddress: 64, LoginsPerMinute: 10, LoginBurst: 20, StrangerFramesPerMinute: 5,
		LoginTimeout: 5 * time.Second, WriteTimeout: 3 * time.Second, PingEvery: 25 * time.Second,
		ReadTimeout: time.Minute, RestartIn: 3 * time.Second,
	}
}

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, p := range []struct{ have, def *int }{
		{&l.QueueFrames, &d.QueueFrames},
		{&l.QueueBytes, &d.QueueBytes},
		{&l.TotalBytes, &d.TotalBytes},
		{&l.BytesPerSecond, &d.BytesPerSecond},
		{&l.BurstBytes, &d.BurstBytes},
		{&l.FramesPerSecond, &d.FramesPerSecond},
		{&l.BurstFrames, &d.BurstFrames},
		{&l.Connections, &d.Connections},
		{&l.PerAddress, &d.PerAddress},
		{&l.LoginsPerMinute, &d.LoginsPerMinute},
		{&l.LoginBurst, &d.LoginBurst},
		{&l.StrangerFramesPerMinute, &d.StrangerFramesPerMinute},
	} {
		if *p.have <= 0 {
			*p.have = *p.def
		}
	}
	for _, p := range []struct{ have, def *time.Duration }{
		{&l.LoginTimeout, &d.LoginTimeout},
		{&l.WriteTimeout, &d.WriteTimeout},
		{&l.PingEvery, &d.PingEvery},
		{&l.ReadTimeout, &d.ReadTimeout},
		{&l.RestartIn, &d.RestartIn},
	} {
		if *p.have <= 0 {
			*p.have = *p.def
		}
	}
	return l
}

// announce is what HELLO and WELCOME say of the limits.
func (l Limits) announce(binding string) frame.Limits {
	return frame.Limits{
		MaxFrame: frame.MaxPayload, Queue: l.QueueFrames,
		BytesPerSecond: l.BytesPerSecond, Burst: l.BurstBytes, FramesPerSecond: l.FramesPerSecond,
		PingSeconds: max(1, int(l.PingEvery/time.Second)), Binding: binding,
	}
}

// MinToken is how many bytes a token has at least.
const MinToken = 16

// Errors about a Config.
var (
	ErrNoHost   = errors.New("the relay has no host name to bind logins to")
	ErrNoAccess = errors.New("nobody may log in: the relay has no token, no device and is not open")
	ErrToken    = errors.New("a token is shorter than 16 bytes or longer than 512")
)

func (c Config) check() error {
	if len(c.Hosts) == 0 {
		return ErrNoHost
	}
	for _, t := range c.Tokens {
		if len(t) < MinToken || len(t) > frame.MaxToken {
			return ErrToken
		}
	}
	if len(c.Tokens) == 0 && len(c.Devices) == 0 && !c.Open {
		return ErrNoAccess
	}
	return nil
}
