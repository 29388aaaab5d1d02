package logtest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy forwards the connections that l accepts to those that dial makes, until the test
// ends. When cut is set, it closes the next connection on which the server answers, without
// the answer.
func Proxy(t testing.TB, l net.Listener, dial func() (net.Conn, error)) (cut *atomic.Bool) {
	cut = new(atomic.Bool)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := dial()
			if err != nil {
				client.Close()
				continue
			}
			context.AfterFunc(t.Context(), func() { // the other end may be gone without a sign
				client.Close()
				server.Close()
			})
			all.Go(func() {
				io.Copy(server, client)
				server.Close()
			})
			all.Go(func() {
				defer client.Close()
				b := make([]byte, 1<<16)
				for {
					n, err := server.Read(b)
					if err != nil || cut.CompareAndSwap(true, false) {
						return
					}
					if _, err := client.Write(b[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return cut
}
