// Package certfile serves TLS with the certificate and the key in two PEM files.
package certfile

import (
	"crypto/tls"
	"errors"
	"os"
	"sync"
	"time"
)

// ErrHalf is the error of a certificate without a key, and of a key without one.
var ErrHalf = errors.New("a certificate needs its key, and a key its certificate")

// Load returns a TLS configuration with the certificate and the key in two PEM
// files, nil when neither is named. The files are read again when they have
// changed, because certificates are renewed more often than a server is
// restarted.
func Load(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case cert == "" || key == "":
		return nil, ErrHalf
	}
	c := &certificate{cert: cert, key: key}
	if _, err := c.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS13}, nil
}

// A certificate is reloaded when its files change.
type certificate struct {
	cert, key string

	mu       sync.Mutex
	loaded   *tls.Certificate
	modified time.Time // the later change of the two files
}

// get returns the certificate. When the files cannot be read, as while they
// are replaced, the certificate stays the one that was loaded.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	modified, err := c.lastModified()
	if err == nil && (c.loaded == nil || !modified.Equal(c.modified)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.loaded, c.modified = &pair, modified
		}
	}
	if c.loaded == nil {
		return nil, err
	}
	return c.loaded, nil
}

func (c *certificate) lastModified() (latest time.Time, err error) {
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
