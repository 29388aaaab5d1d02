package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// names gives devices the names that the log has for them: the same within a
// day, and no longer. Nobody who reads the log learns an id, nor can tell one
// day's device from the next day's.
type names struct {
	mu  sync.Mutex
	day int64
	key [sha256.Size]byte
}

const nameSize = 8

// of returns a device's name.
func (n *names) of(id frame.ID) string {
	day := time.Now().Unix() / (24 * 60 * 60)
	n.mu.Lock()
	if n.day != day {
		n.day = day
		_, _ = rand.Read(n.key[:]) // it never fails
	}
	h := hmac.New(sha256.New, n.key[:])
	n.mu.Unlock()
	h.Write(id[:])
	return hex.EncodeToString(h.Sum(nil))[:nameSize]
}

// report logs a connection that has ended. Reasons are texts of this package:
// errors of the network hold addresses.
func (c *conn) report() {
	in, out := c.meter.in.Load(), c.meter.out.Load()
	c.s.counts.bytesIn.AddInt64(in)
	c.s.counts.bytesOut.AddInt64(out)
	device := ""
	if c.out != nil {
		device = c.s.names.of(c.id)
	}
	c.s.log.Info("connection ended", "conn", c.number, "device", device, "reason", c.reason,
		"seconds", int(time.Since(c.since).Seconds()), "bytes_in", in, "bytes_out", out, "frames_in", c.in.Load(), "frames_out", c.sent.Load())
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
