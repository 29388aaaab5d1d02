package server_test

import (
	"io"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// FuzzConnection sends arbitrary bytes instead of WebSocket frames, before and
// after the login. Nothing panics, the connection ends, and another connection
// continues.
func FuzzConnection(f *testing.F) {
	n := memory(relaytest.NewNetwork())
	r := start(f, n, server.Config{Open: true, Limits: unlimited})
	other := r.login()
	if err := other.SetReadDeadline(time.Time{}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, true)
	f.Add([]byte{0x82, 0x80, 0, 0, 0, 0}, true)                                           // an empty message
	f.Add([]byte{0x82, 0xfe, 0x01, 0x00, 0, 0, 0, 0, 0x10}, true)                         // shorter than stated
	f.Add([]byte{0x02, 0x80, 0, 0, 0, 0, 0x80, 0x80, 0, 0, 0, 0}, true)                   // in empty fragments
	f.Add([]byte{0x89, 0x80, 0, 0, 0, 0, 0x8a, 0x80, 0, 0, 0, 0}, true)                   // ping, pong
	f.Add([]byte{0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8}, true)                               // close
	f.Add([]byte{0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0}, true) // an excessive length
	f.Add([]byte{0xc2, 0x81, 0, 0, 0, 0, 0x10}, false)                                    // compression bit set
	f.Add(append([]byte{0x82, 0xa1, 0, 0, 0, 0, 0x10}, make([]byte, 32)...), true)        // a SEND
	f.Fuzz(func(t *testing.T, b []byte, in bool) {
		r := &relay{network: n, t: t, server: r.server}
		other.t = t
		e := r.dialHello()
		if in {
			e.send(e.loginFrame(r.host, ""))
			want[frame.Welcome](e)
		}
		go func() {
			_, _ = e.NetConn().Write(b) // the relay may have closed it
			_ = e.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Second))
			if w, ok := e.NetConn().(interface{ CloseWrite() error }); ok {
				_ = w.CloseWrite()
			}
		}()
		if _, err := io.Copy(io.Discard, e.NetConn()); err != nil {
			t.Fatal(err)
		}
		other.sendTo(other, "undisturbed")
		for {
			if got := want[frame.Recv](other); string(got.Payload) == "undisturbed" {
				return
			}
		}
	})
}
