package server

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/netip"
	"reflect"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// Config configures a relay. Hosts is required, and one of Tokens, Devices and
// Open.
type Config struct {
	// Hosts are the names of the relay in endpoints' URLs, as returned by
	// frame.Host. A login is valid for these only. The Host header is not used,
	// because clients can write anything in it.
	Hosts []string

	// Devices may log in without a token. Other devices need one of Tokens.
	Tokens  []string
	Devices []frame.ID
	Open    bool // every device may log in

	// TLS, if set, is terminated by the relay. Otherwise Serve speaks plain
	// HTTP, for a loopback address or behind a proxy.
	TLS *tls.Config

	// TrustedProxies are the proxies whose X-Forwarded-For is trusted.
	TrustedProxies []netip.Prefix

	// Bus connects the relay to others, which are then one with it. nil: it is
	// the only one. The caller closes it after Serve.
	Bus Bus

	Limits Limits

	// Log receives one record per connection, without payloads, tokens,
	// addresses or device ids. nil disables logging.
	Log *slog.Logger

	// LogPeers logs the aliases of sender and destination of each frame, at
	// level debug.
	LogPeers bool
}

// Limits limit the resources that an endpoint can use. A zero field means its
// default, never "unlimited".
type Limits struct {
	QueueFrames int // queued for one destination: 32
	QueueBytes  int // queued for one destination: 2 MiB
	TotalBytes  int // queued for all destinations: 256 MiB

	BytesPerSecond  int // read from one connection: 256 KiB
	BurstBytes      int // 1 MiB
	FramesPerSecond int // read from one connection: 50
	BurstFrames     int // 100

	Connections             int // logged in, of all addresses: 4,096
	PerAddress              int // logged in, of one address, or of one IPv6 network of 64 bits: 64
	HalfOpen                int // not logged in yet, of all addresses: 1,024
	HalfOpenPerAddress      int // not logged in yet, of one address: 256
	LoginsPerMinute         int // failed ones of one address: 10
	LoginBurst              int // failed ones of one address at once: 20
	StrangerFramesPerMinute int // frames to a destination that has not written to the sender: 5

	LoginTimeout time.Duration // from the connection to the login: 5 s
	WriteTimeout time.Duration // for one frame: 3 s
	PingEvery    time.Duration // 25 s
	ReadTimeout  time.Duration // without a frame or a pong: 60 s
	KeepPlace    time.Duration // of a device that has disconnected: 2 minutes
	RestartIn    time.Duration // maximum delay of reconnections after a shutdown: 3 s
}

// DefaultLimits returns the defaults of Limits.
func DefaultLimits() Limits {
	return Limits{
		QueueFrames: 32, QueueBytes: 2 << 20, TotalBytes: 256 << 20,
		BytesPerSecond: 256 << 10, BurstBytes: 1 << 20, FramesPerSecond: 50, BurstFrames: 100,
		Connections: 4096, PerAddress: 64, HalfOpen: 1024, HalfOpenPerAddress: 256, LoginsPerMinute: 10, LoginBurst: 20, StrangerFramesPerMinute: 5,
		LoginTimeout: 5 * time.Second, WriteTimeout: 3 * time.Second, PingEvery: 25 * time.Second,
		ReadTimeout: time.Minute, KeepPlace: 2 * time.Minute, RestartIn: 3 * time.Second,
	}
}

// withDefaults replaces zero fields by the defaults. All fields are integers.
func (l Limits) withDefaults() Limits {
	have, def := reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits())
	for i := range have.NumField() {
		if have.Field(i).Int() <= 0 {
			have.Field(i).Set(def.Field(i))
		}
	}
	return l
}

// announce returns the limits for HELLO and WELCOME.
func (l Limits) announce(binding string) frame.Limits {
	return frame.Limits{
		MaxFrame: frame.MaxPayload, Queue: l.QueueFrames,
		BytesPerSecond: l.BytesPerSecond, Burst: l.BurstBytes, FramesPerSecond: l.FramesPerSecond,
		PingSeconds: max(1, int(l.PingEvery/time.Second)), Binding: binding,
	}
}

// MinToken is the minimum size of a token in bytes.
const MinToken = 16

// Errors of New.
var (
	ErrNoHost   = errors.New("the relay has no host name to bind logins to")
	ErrNoAccess = errors.New("no device may log in: the relay has no token, no device and is not open")
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
