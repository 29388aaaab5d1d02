package server

import (
	"crypto/tls"
	"errors"

	"github.com/folkmoot/moot/internal/certfile"
	"github.com/folkmoot/moot/problem"
)

// LoadTLS returns a TLS configuration with the certificate and the key in two
// PEM files, nil when neither is named.
func LoadTLS(cert, key string) (*tls.Config, error) {
	c, err := certfile.Load(cert, key)
	switch {
	case errors.Is(err, certfile.ErrHalf):
		return nil, &problem.Error{Code: "RELAY-CERT", What: err.Error(), Fix: "give both --cert and --key"}
	case err != nil:
		return nil, &problem.Error{Code: "RELAY-CERT", What: "the certificate cannot be used", Where: cert, Fix: "both files must be PEM, and the key must belong to the certificate", Err: err}
	}
	return c, nil
}
