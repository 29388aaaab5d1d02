// Package natsserver runs a NATS server with JetStream in this process, as one of the
// servers of a cluster. Each machine of the cluster has a folder with its name, the
// addresses of all machines, and keys. Servers and clients authenticate each other by
// certificates of the cluster's own authority (mutual TLS).
package natsserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/folkmoot/moot/problem"
	"go.yaml.in/yaml/v3"
)

// Files of a machine's folder.
const (
	settingsFile    = "cluster.yaml"
	authorityFile   = "ca.pem"
	certificateFile = "cert.pem"
	keyFile         = "key.pem"
)

// DefaultPort is the first port of a machine that names none.
const DefaultPort = 8430

// A Machine is one of a cluster. Clients use its port, the other servers the next one,
// and the other nodes the one after that.
type Machine struct {
	Name string
	Host string // a name or an IP address
	Port int
}

func (m Machine) clients() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }
func (m Machine) routes() string  { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port+1)) }

// Nodes is the address for other nodes.
func (m Machine) Nodes() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port+2)) }

// A Folder is what a machine knows of its cluster.
type Folder struct {
	Machines []Machine // by name
	Self     Machine
	listen   string // the address to listen at; "" is that of Self
	pair     tls.Certificate
	roots    *x509.CertPool
}

// settings are the content of cluster.yaml.
type settings struct {
	Name     string            `yaml:"name"`
	Machines map[string]string `yaml:"machines"`
	Listen   string            `yaml:"listen,omitempty"`
}

// Read reads the folder of a machine and checks it.
func Read(dir string) (*Folder, error) {
	file, err := os.Open(filepath.Join(dir, settingsFile))
	if err != nil {
		return nil, badFolder(dir, err)
	}
	defer file.Close()
	d := yaml.NewDecoder(file)
	d.KnownFields(true)
	var s settings
	if err := d.Decode(&s); err != nil {
		return nil, badFolder(file.Name(), err)
	}
	f := &Folder{listen: s.Listen}
	for _, name := range slices.Sorted(maps.Keys(s.Machines)) {
		m, err := ParseMachine(name + "=" + s.Machines[name])
		if err != nil {
			return nil, err
		}
		f.Machines = append(f.Machines, m)
		if name == s.Name {
			f.Self = m
		}
	}
	if err := check(f.Machines); err != nil {
		return nil, err
	}
	if f.Self.Name == "" {
		return nil, badMachines(fmt.Sprintf("the name %q of this machine is not in the list of machines", s.Name), "write one of the names below machines: as name: of "+file.Name())
	}
	return f, f.readKeys(dir)
}

// ParseMachine reads NAME=HOST or NAME=HOST:PORT.
func ParseMachine(s string) (m Machine, err error) {
	name, address, _ := strings.Cut(s, "=")
	m = Machine{Name: name, Host: address, Port: DefaultPort}
	if host, port, err := net.SplitHostPort(address); err == nil {
		m.Host = host
		if m.Port, err = strconv.Atoi(port); err != nil {
			m.Port = 0
		}
	}
	_, notIP := netip.ParseAddr(m.Host)
	wrong := name == "" || m.Host == "" || strings.Trim(name, nameLetters) != "" || notIP != nil && strings.Trim(m.Host, nameLetters+".") != ""
	if wrong || m.Port < 1 || m.Port > 1<<16-3 {
		return m, badMachines(fmt.Sprintf("%q is no machine", s), "write NAME=HOST or NAME=HOST:PORT, such as one=10.0.0.1; a name has letters, digits, - and _")
	}
	return m, nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// check refuses lists of machines that cannot be a cluster.
func check(all []Machine) error {
	if n := len(all); n < 3 || n%2 == 0 {
		return badMachines(fmt.Sprintf("a cluster cannot have %d machines", n),
			"name three machines, or five: a majority must be left when one fails, and an even number fails as soon as the odd number below it")
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Name == b.Name {
				return badMachines("two machines have the name "+a.Name, "give each machine a name of its own")
			}
			if a.Host == b.Host && max(a.Port-b.Port, b.Port-a.Port) < 3 {
				return badMachines(fmt.Sprintf("the ports of %s and %s overlap", b.Name, a.Name), "each machine uses three ports from the one in its address")
			}
		}
	}
	return nil
}

// readKeys reads the certificates and the key.
func (f *Folder) readKeys(dir string) (err error) {
	key := filepath.Join(dir, keyFile)
	st, err := os.Stat(key)
	if err != nil {
		return badFolder(dir, err)
	}
	if st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return &problem.Error{Code: "CLUSTER-FOLDER", What: "other users can read the key of this machine", Where: key, Fix: "chmod 600 " + key}
	}
	if f.pair, err = tls.LoadX509KeyPair(filepath.Join(dir, certificateFile), key); err != nil {
		return badFolder(dir, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, authorityFile))
	if err != nil {
		return badFolder(dir, err)
	}
	f.roots = x509.NewCertPool()
	if !f.roots.AppendCertsFromPEM(text) {
		return badFolder(filepath.Join(dir, authorityFile), errors.New("no certificate in PEM"))
	}
	return f.checkCertificate(filepath.Join(dir, certificateFile), time.Now())
}

// checkCertificate finds what the other machines would refuse.
func (f *Folder) checkCertificate(path string, now time.Time) error {
	_, err := f.pair.Leaf.Verify(x509.VerifyOptions{Roots: f.roots, DNSName: f.Self.Host, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err == nil {
		return nil
	}
	p := &problem.Error{Code: "CLUSTER-CERT", What: "the other machines would refuse the certificate of this machine", Where: path, Err: err, Fix: "make the folders again with `moot cluster init`, and copy them to all machines"}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		leaf := f.pair.Leaf
		p.What = fmt.Sprintf("the certificate of this machine is valid from %s to %s, and its clock says %s", day(leaf.NotBefore), day(leaf.NotAfter), day(now))
		p.Fix = "set the clock of this machine if it is wrong; otherwise make new certificates with `moot cluster init --renew`"
	}
	return p
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// URL lists the addresses for clients, that of this machine first.
func (f *Folder) URL() string {
	all := []string{"nats://" + f.Self.clients()}
	for _, m := range f.others() {
		all = append(all, "nats://"+m.clients())
	}
	return strings.Join(all, ",")
}

// others are the machines but this one.
func (f *Folder) others() []Machine {
	return slices.DeleteFunc(slices.Clone(f.Machines), func(m Machine) bool { return m.Name == f.Self.Name })
}

// TLS returns what a client of the cluster needs to connect.
func (f *Folder) TLS() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{f.pair}, RootCAs: f.roots, MinVersion: tls.VersionTLS13}
}

// mutualTLS is TLS for servers, which refuse clients without a certificate of the cluster.
func (f *Folder) mutualTLS() *tls.Config {
	c := f.TLS()
	c.ClientCAs, c.ClientAuth = f.roots, tls.RequireAndVerifyClientCert
	return c
}

// listenHost returns the address to listen at. A name may lead to a loopback address on its
// own machine, as in Debian's /etc/hosts, so a machine with a name listens at all addresses.
func (f *Folder) listenHost() string {
	if f.listen != "" {
		return f.listen
	}
	if _, err := netip.ParseAddr(f.Self.Host); err != nil {
		return "0.0.0.0"
	}
	return f.Self.Host
}

func badFolder(where string, err error) error {
	return &problem.Error{
		Code: "CLUSTER-FOLDER", What: "this is not the folder of a machine of a cluster", Where: where, Err: err,
		Fix: "`moot cluster init` makes one for each machine; copy the whole folder of this machine and name it with --cluster",
	}
}

func badMachines(what, fix string) error {
	return &problem.Error{Code: "CLUSTER-MACHINES", What: what, Where: "machines", Fix: fix}
}
