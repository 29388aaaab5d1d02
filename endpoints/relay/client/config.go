package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Signer signs logins with the device's key. It signs frame.LoginMessage.
type Signer interface {
	SignLogin(host string, challenge [32]byte, exporter []byte) [64]byte
}

// Config configures a Client. URL, Device and Signer are required. The
// callbacks are called one at a time from the reading goroutine: nothing is
// read while one runs. Each may be nil.
type Config struct {
	URL    string // the relay: wss://HOST[:PORT][/PATH]
	Device frame.ID
	Signer Signer
	Token  string // if the relay needs one

	// Plain allows ws:// to other machines. Payloads are encrypted anyway, but
	// the network sees which devices exchange them.
	Plain bool

	Deliver func(from frame.ID, payload []byte)                      // the callee owns payload
	Gone    func(to frame.ID, reason frame.GoneReason)               // a hint: stated by the relay
	Changed func(Status)                                             // connected or disconnected
	Dial    func(ctx context.Context, addr string) (net.Conn, error) // nil: TCP, through the proxy of the environment
	TLS     *tls.Config                                              // nil: the system's root certificates

	Timing Timing
}

// Timing holds the delays of a client. Zero fields get the defaults.
type Timing struct {
	First     time.Duration // maximum before the second attempt: 0.5 s
	Cap       time.Duration // maximum between attempts: 60 s
	Stable    time.Duration // a connection that lasted so long resets the back-off: 60 s
	Handshake time.Duration // from dialling to WELCOME: 15 s
	Silence   time.Duration // timeout without a ping of the relay: 60 s
	Write     time.Duration // for one frame: 10 s
}

func (t Timing) withDefaults() Timing {
	for _, p := range []struct {
		have *time.Duration
		def  time.Duration
	}{
		{&t.First, 500 * time.Millisecond},
		{&t.Cap, time.Minute},
		{&t.Stable, time.Minute},
		{&t.Handshake, 15 * time.Second},
		{&t.Silence, time.Minute},
		{&t.Write, 10 * time.Second},
	} {
		if *p.have <= 0 {
			*p.have = p.def
		}
	}
	return t
}

// Status describes the state of the connection.
type Status struct {
	Connected bool
	Err       error         // reason, if not connected
	Retry     time.Duration // until the next attempt
	Health    string        // last HEALTH text of the relay; untrusted
}

// ErrOffline is returned by Send without a connection.
var ErrOffline = errors.New("not connected to the relay")

// ErrReplaced means that a newer login of the same device ended the connection.
var ErrReplaced = errors.New("this device has logged in again elsewhere")

var errProtocol = errors.New("the relay broke its protocol")

// A Restarting error means that the relay announced a restart.
type Restarting struct {
	ReconnectIn, TryFor time.Duration
}

func (e *Restarting) Error() string { return "the relay restarts" }

// A Rejected error means that the relay refused the login.
type Rejected struct {
	Code  frame.RejectCode
	Retry time.Duration // 0: do not retry
}

func (e *Rejected) Error() string { return "the relay refused the login: " + e.Code.String() }

// isPermanent reports whether a retry would fail in the same way.
func isPermanent(err error) bool {
	var r *Rejected
	return errors.As(err, &r) && (r.Code == frame.RejectAuth || r.Code == frame.RejectToken || r.Code == frame.RejectVersion)
}
