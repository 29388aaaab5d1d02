package relay

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/nacl/box"

	"github.com/folkmoot/moot/endpoints/relay/frame"
)

// host is the name of both relays.
const host = "127.0.0.1"

// A client is a connection to a relay that is logged in.
type client interface {
	name() [32]byte
	send(to [32]byte, payload []byte) error
	receive() (bytes int, err error) // the next payload
	Close() error
}

var insecure = &tls.Config{InsecureSkipVerify: true} // certificates are the relays' own

// A mootClient speaks moot's protocol over WebSocket.
type mootClient struct {
	*websocket.Conn
	id  frame.ID
	out []byte
}

func dialMoot(scheme, address string) (client, error) {
	d := websocket.Dialer{TLSClientConfig: insecure, Subprotocols: []string{frame.Subprotocol}, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}
	if scheme == "wss" {
		d.ReadBufferSize, d.WriteBufferSize = 64<<10, 8<<10
	}
	ws, _, err := d.Dial(scheme+"://"+address+"/", nil)
	if err != nil {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &mootClient{Conn: ws, id: frame.ID(key.Public().(ed25519.PublicKey))}
	hello, err := next[frame.Hello](ws)
	if err != nil {
		return nil, err
	}
	var binding []byte
	if encrypted, ok := ws.NetConn().(*tls.Conn); ok {
		state := encrypted.ConnectionState()
		if binding, err = state.ExportKeyingMaterial(frame.ExporterLabel, nil, frame.ExporterSize); err != nil {
			return nil, err
		}
	}
	signature := ed25519.Sign(key, frame.LoginMessage(host, hello.Challenge[:], binding))
	login, err := frame.Append(nil, frame.Login{Device: c.id, Signature: [64]byte(signature)})
	if err != nil {
		return nil, err
	}
	if err := ws.WriteMessage(websocket.BinaryMessage, login); err != nil {
		return nil, err
	}
	_, err = next[frame.Welcome](ws)
	return c, err
}

// next reads a frame of type F.
func next[F frame.Frame](ws *websocket.Conn) (f F, err error) {
	_, b, err := ws.ReadMessage()
	if err != nil {
		return f, err
	}
	got, err := frame.Decode(b)
	if err != nil {
		return f, err
	}
	f, ok := got.(F)
	if !ok {
		return f, fmt.Errorf("the relay sent %T", got)
	}
	return f, nil
}

func (c *mootClient) name() [32]byte { return c.id }

func (c *mootClient) send(to [32]byte, payload []byte) error {
	c.out = append(append(append(c.out[:0], byte(frame.KindSend)), to[:]...), payload...)
	return c.WriteMessage(websocket.BinaryMessage, c.out)
}

func (c *mootClient) receive() (int, error) {
	var kind [1]byte
	for {
		_, r, err := c.NextReader()
		if err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(r, kind[:]); err != nil {
			return 0, err
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil || kind[0] == byte(frame.KindRecv) {
			return int(n) - 32, err
		}
	}
}

// Frames of DERP, from derp/derp.go: a type, a length of four bytes, and a body.
const (
	derpServerKey  = 0x01 // magic[8], key[32]
	derpClientInfo = 0x02 // key[32], nonce[24], a NaCl box of JSON
	derpServerInfo = 0x03
	derpSend       = 0x04 // destination[32], payload
	derpReceive    = 0x05 // source[32], payload
)

// A derpClient speaks DERP.
type derpClient struct {
	net.Conn
	in  *bufio.Reader
	id  [32]byte
	out []byte
}

func dialDerper(address string) (client, error) {
	conn, err := tls.Dial("tcp", address, insecure)
	if err != nil {
		return nil, err
	}
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &derpClient{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10), id: *public}
	if _, err := fmt.Fprintf(conn, "GET /derp HTTP/1.1\r\nHost: %s\r\nUpgrade: DERP\r\nConnection: Upgrade\r\nDerp-Fast-Start: 1\r\n\r\n", host); err != nil {
		return nil, err
	}
	greeting, err := c.body(derpServerKey)
	if err != nil {
		return nil, err
	}
	if len(greeting) < 40 {
		return nil, errors.New("derper sent a short key")
	}
	var nonce [24]byte
	_, _ = rand.Read(nonce[:])
	info := box.Seal(append(public[:], nonce[:]...), []byte(`{"version":2}`), &nonce, (*[32]byte)(greeting[8:40]), private)
	if _, err := conn.Write(append(derpHeader(nil, derpClientInfo, len(info)), info...)); err != nil {
		return nil, err
	}
	_, err = c.body(derpServerInfo)
	return c, err
}

func derpHeader(b []byte, kind byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, kind), uint32(size))
}

// header reads the type and the length of the next frame.
func (c *derpClient) header() (kind byte, size int, err error) {
	var b [5]byte
	_, err = io.ReadFull(c.in, b[:])
	return b[0], int(binary.BigEndian.Uint32(b[1:])), err
}

// body reads the next frame, which has the kind want.
func (c *derpClient) body(want byte) ([]byte, error) {
	kind, size, err := c.header()
	if err != nil || kind != want || size > 1<<16 {
		return nil, errors.Join(err, fmt.Errorf("derper sent a frame of type %d with %d bytes", kind, size))
	}
	b := make([]byte, size)
	_, err = io.ReadFull(c.in, b)
	return b, err
}

func (c *derpClient) name() [32]byte { return c.id }

func (c *derpClient) send(to [32]byte, payload []byte) error {
	c.out = append(append(derpHeader(c.out[:0], derpSend, 32+len(payload)), to[:]...), payload...)
	_, err := c.Write(c.out)
	return err
}

func (c *derpClient) receive() (int, error) {
	for {
		kind, size, err := c.header()
		if err != nil {
			return 0, err
		}
		if _, err := c.in.Discard(size); err != nil || kind == derpReceive {
			return size - 32, err
		}
	}
}
