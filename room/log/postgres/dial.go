package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"
)

// Times of connections over a network that may be cut. A system repeats what is not
// acknowledged after 0.2, 0.4, 0.8 seconds and so on: after a cut of 7 seconds a connection
// waits for up to 6 more, and a new one for up to 8.
const (
	dialTry     = 1500 * time.Millisecond // for one attempt to connect
	userTimeout = 3 * time.Second         // after which a connection ends whose data is not acknowledged
)

// dialTries bounds attempts whose context has no deadline.
const dialTries = 20

// dial connects to the server. It begins again after a short time, until ctx ends.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTry, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3}}
	if strings.HasPrefix(network, "tcp") {
		d.Control = func(_, _ string, c syscall.RawConn) error { return setUserTimeout(c, userTimeout) }
	}
	for try := 1; ; try++ {
		c, err := d.DialContext(ctx, network, address)
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() || ctx.Err() != nil || try == dialTries {
			return c, err
		}
	}
}
