package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// A Signer answers challenges of relays with the device's key. What it signs
// is frame.LoginMessage.
type Signer interface {
	SignLogin(host string, challenge [32]byte, exporter []byte) [64]byte
}

// A Config says where to connect, as whom, and who hears of what arrives. The
// functions are called one at a time, from the goroutine that reads: while
// one runs, nothing is read. Each may be nil.
type Config struct {
	URL    string // of the relay: wss://HOST[:PORT][/PATH]
	Device frame.ID
	Signer Signer
	Token  string // for a relay that wants one

	// Plain allows ws:// to other machines than this one. Payloads are
	// encrypted all the same, but anybody between sees who sends to whom.
	Plain bool

	Deliver func(from frame.ID, payload []byte)                      // payload is the callee's
	Gone    func(to frame.ID, reason frame.GoneReason)               // a hint: the relay's word
	Changed func(Status)                                             // the connection came or went
	Dial    func(ctx context.Context, addr string) (net.Conn, error) // nil: TCP, through the proxy of the environment
	TLS     *tls.Config                                              // nil: the system's roots

	Timing Timing
}

// Timing is how a client waits. Zeros are the defaults.
type Timing struct {
	First     time.Duration // before the second attempt, at most: 0.5 s
	Cap       time.Duration // between attempts, at most: 60 s
	Stable    time.Duration // connected for that long, the next wait is First again: 60 s
	Handshake time.Duration // from dialling to WELCOME: 15 s
	Silence   time.Duration // without a ping of the relay: 60 s
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

// Status is what has become of the connection.
type Status struct {
	Connected bool
	Err       error         // why it is not
	Retry     time.Duration // until the next attempt
	Health    string        // what the relay said on the way; its word, so text of a stranger
}

// ErrOffline is what Send and Allow return without a connection.
var ErrOffline = errors.New("not connected to the relay")

// ErrReplaced is why a connection ended that a newer login of the same device
// has taken the place of.
var ErrReplaced = errors.New("this device has logged in again elsewhere")

var errProtocol = errors.New("the relay broke its protocol")

// A Restarting error says that the relay announced its end.
type Restarting struct {
	ReconnectIn, TryFor time.Duration
}

func (e *Restarting) Error() string { return "the relay restarts" }

// A Rejected error says that the relay refused the login.
type Rejected struct {
	Code  frame.RejectCode
	Retry time.Duration // 0: trying again will not help by itself
}

func (e *Rejected) Error() string { return "the relay refused the login: " + e.Code.String() }

// isPermanent reports whether an error will be there the next time too.
func isPermanent(err error) bool {
	var r *Rejected
	return errors.As(err, &r) && (r.Code == frame.RejectAuth || r.Code == frame.RejectToken || r.Code == frame.RejectVersion)
}
