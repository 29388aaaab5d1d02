package cli

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// A certificate is read from its files again when they have changed, because
// certificates are renewed more often than a relay is restarted.
type certificate struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	of     time.Time // the later change of the two files
}

// get returns the certificate. One that cannot be read any more, as while it
// is being replaced, stays what it was.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.changed()
	if err == nil && (c.loaded == nil || !changed.Equal(c.of)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.loaded, c.of = &pair, changed
		}
	}
	if c.loaded == nil {
		return nil, err
	}
	return c.loaded, nil
}

func (c *certificate) changed() (latest time.Time, err error) {
	for _, path := range []string{c.cert, c.key} {
		st, err := os.Stat(path)
		if err != nil {
			return latest, err
		}
		if st.ModTime().After(latest) {
			latest = st.ModTime()
		}
	}
	return latest, nil
}
