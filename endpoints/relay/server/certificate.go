package server

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
)

// LoadTLS returns a TLS configuration with the certificate and the key in two
// PEM files, nil when neither is named. The files are read again when they
// have changed, because certificates are renewed more often than a relay is
// restarted.
func LoadTLS(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case cert == "" || key == "":
		return nil, &problem.Error{Code: "RELAY-CERT", What: "a certificate needs its key, and a key its certificate", Fix: "give both --cert and --key"}
	}
	c := &certificate{cert: cert, key: key}
	if _, err := c.get(nil); err != nil {
		return nil, &problem.Error{Code: "RELAY-CERT", What: "the certificate cannot be used", Where: cert, Fix: "both files must be PEM, and the key must belong to the certificate", Err: err}
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
