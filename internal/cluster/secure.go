package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/problem"
)

// newCertificate makes a certificate for the life of this process. Only its fingerprint
// counts: it has no name, and no authority signs it.
func newCertificate() (c tls.Certificate, fingerprint string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, "", err
	}
	now := time.Now()
	template := x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(100, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return c, "", err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, fingerprintOf(der), nil
}

func fingerprintOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// errStranger refuses a connection with a certificate that is not in the registry.
var errStranger = errors.New("cluster: the certificate is not that of a node")

// config returns the settings of a connection. trust is given the fingerprint of the
// other side, which has proved that it has the key.
func (n *Node) config(trust func(fingerprint string) bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{n.cert}, SessionTicketsDisabled: true,
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // there is no authority: VerifyConnection compares the certificate itself
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) != 1 || !trust(fingerprintOf(s.PeerCertificates[0].Raw)) {
				return errStranger
			}
			return nil
		},
	}
}

// Listen listens for other nodes at an address. Port 0 takes any that is free. A name, which
// may mean another address on this machine, stands for all of its addresses.
func Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	if err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		err = errors.New("the other nodes need a host")
	}
	if err != nil {
		return nil, &problem.Error{Code: "NODE-ADDRESS", What: "this is no address for other nodes", Where: address, Fix: "write the address at which they reach this machine, such as 10.0.0.1:8422", Err: err}
	}
	at := address
	if ip == nil && host != "localhost" {
		at = ":" + port
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, &problem.Error{Code: "NODE-ADDRESS", What: "cannot listen for other nodes", Where: address, Fix: "choose another address with --node", Err: err}
	}
	return l, nil
}

// Secure returns a listener that accepts connections of other nodes only.
func (n *Node) Secure(l net.Listener) net.Listener {
	return tls.NewListener(l, n.config(n.knows))
}

// registryPause is the least time between two reads of the registry for certificates that
// are not in it, so that strangers cannot load the servers.
const registryPause = 100 * time.Millisecond

// knows reports whether a fingerprint is in the registry, which it reads if the node may
// have come just now.
func (n *Node) knows(fingerprint string) bool {
	asked := time.Now()
	for {
		n.mu.Lock()
		known := slices.ContainsFunc(n.peers, func(p Peer) bool { return p.Fingerprint == fingerprint })
		read := n.read
		n.mu.Unlock()
		if known || read.After(asked) {
			return known
		}
		time.Sleep(time.Until(read.Add(registryPause)))
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		err := n.refresh(ctx)
		cancel()
		if err != nil {
			return false
		}
	}
}

// dialTimeout bounds a connection to a node. A process that was stopped accepts
// connections and does not answer.
const dialTimeout = 2 * time.Second

// Dial connects to a node. The connection is closed when the node has gone, and so is one that
// is being made.
func (n *Node) Dial(ctx context.Context, p Peer) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	c := &peerConn{node: n, cancel: cancel}
	if !n.track(c, p) {
		cancel()
		return nil, unreachable(p, errGone)
	}
	d := tls.Dialer{Config: n.config(func(f string) bool { return f == p.Fingerprint })}
	conn, err := d.DialContext(ctx, "tcp", p.Address)
	if err == nil && !c.made(conn) {
		err = errGone
	}
	if err != nil {
		_ = c.Close()
		return nil, unreachable(p, err)
	}
	return c, nil
}

var errGone = errors.New("it has left")

// A peerConn is a connection to a node, or the attempt to make one.
type peerConn struct {
	net.Conn // nil while it is being made
	node     *Node
	cancel   context.CancelFunc // ends the attempt
	gone     bool               // it is closed, or is to be; node.mu protects it and Conn
}

// track notes a connection to a node, and reports whether that is there.
func (n *Node) track(c *peerConn, p Peer) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.peers, func(x Peer) bool { return x.ID == p.ID }) {
		return false
	}
	n.conns[c] = p.ID
	return true
}

// made notes the connection that was made, and reports whether it is still wanted.
func (c *peerConn) made(conn net.Conn) bool {
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	c.cancel()
	c.Conn = conn
	return !c.gone
}

// Close implements [net.Conn].
func (c *peerConn) Close() error {
	c.node.mu.Lock()
	delete(c.node.conns, c)
	c.gone = true
	conn := c.Conn
	c.node.mu.Unlock()
	c.cancel()
	if conn == nil {
		return nil
	}
	return conn.Close()
}

// dropGone removes the connections to nodes that are not in the registry any more, or all
// of them, and returns what closes them. The caller holds mu, and calls it without.
func (n *Node) dropGone(all bool) (closeAll func()) {
	gone := func(id string) bool {
		return all || !slices.ContainsFunc(n.peers, func(p Peer) bool { return p.ID == id })
	}
	var conns []*peerConn
	var clients []*http.Client
	for c, id := range n.conns {
		if gone(id) {
			conns = append(conns, c)
		}
	}
	for id, c := range n.clients {
		if gone(id) {
			delete(n.clients, id)
			clients = append(clients, c)
		}
	}
	return func() {
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		var closing sync.WaitGroup
		for _, c := range conns { // one of a machine that has died waits for its last write
			closing.Go(func() { _ = c.Close() })
		}
		closing.Wait()
	}
}
