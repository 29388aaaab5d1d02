package natsserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/problem"
)

const (
	authorityKeyFile = "ca.key"
	validFor         = 10 * 365 * 24 * time.Hour
	clockTolerance   = 24 * time.Hour // by which clocks may be behind at the start
)

// Init writes the folders of all machines below dir: one for each, with its settings,
// its certificate and its key. The authority that signs them is in dir itself. Its key is
// needed only to make certificates again. If renew is set, dir must have an authority
// already, which signs new certificates; the old ones remain valid.
func Init(dir string, all []Machine, renew bool) error {
	if err := check(all); err != nil {
		return err
	}
	authority, err := openAuthority(dir, renew)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := writeMachine(filepath.Join(dir, m.Name), m, all, authority); err != nil {
			return initError(dir, err)
		}
	}
	return nil
}

// openAuthority reads the authority, or makes one.
func openAuthority(dir string, renew bool) (tls.Certificate, error) {
	cert, key := filepath.Join(dir, authorityFile), filepath.Join(dir, authorityKeyFile)
	if renew {
		a, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return a, initError(dir, err)
		}
		return a, nil
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, &problem.Error{
			Code: "CLUSTER-EXISTS", What: "the folder exists already", Where: dir,
			Fix: "name a folder that does not exist yet; with --renew, `moot cluster init` makes new certificates in this one",
		}
	}
	if err := issue(cert, key, certificate("moot cluster", true), nil); err != nil {
		return tls.Certificate{}, initError(dir, err)
	}
	return openAuthority(dir, true)
}

func initError(dir string, err error) error {
	return &problem.Error{Code: "CLUSTER-WRITE", What: "the folders of the machines cannot be made", Where: dir, Err: err, Fix: "choose a folder that you can write to; --renew needs the one of the first `moot cluster init`"}
}

func writeMachine(dir string, m Machine, all []Machine, authority tls.Certificate) error {
	c := certificate(m.Name, false)
	if ip := net.ParseIP(m.Host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{m.Host}
	}
	if err := issue(filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile), c, &authority); err != nil {
		return err
	}
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate[0]})
	if err := atomicfile.WriteDurable(filepath.Join(dir, authorityFile), root); err != nil {
		return err
	}
	return atomicfile.WriteDurable(filepath.Join(dir, settingsFile), []byte(settingsText(m, all)))
}

// settingsText is the cluster.yaml of a machine.
func settingsText(self Machine, all []Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The machine %s of a cluster: moot serve --cluster FOLDER, with the folder of this file.\nname: %s\n\n", self.Name, self.Name)
	b.WriteString("# Each machine has three ports: that of its address is for clients, the next one for the\n# other servers, the one after that for the other nodes.\nmachines:\n")
	for _, m := range all {
		fmt.Fprintf(&b, "  %s: %q\n", m.Name, m.clients())
	}
	b.WriteString("\n# The address to listen at, if it is another one, as behind address translation. Without it\n# a machine with an IP address listens there, and one with a name at all addresses.\n# listen: 0.0.0.0\n")
	return b.String()
}

// certificate is the template of a certificate.
func certificate(name string, authority bool) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // the system's source of randomness never fails
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-clockTolerance), NotAfter: time.Now().Add(validFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if authority {
		c.IsCA, c.BasicConstraintsValid, c.MaxPathLenZero = true, true, true
		c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageCertSign, nil
	}
	return c
}

// issue makes a key, and writes it and a certificate for it. An authority signs itself.
func issue(certPath, keyPath string, c *x509.Certificate, authority *tls.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	parent, signer := c, crypto.PrivateKey(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteDurable(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return err
	}
	return atomicfile.WriteDurable(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
}
