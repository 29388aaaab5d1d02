//go:build unix

package server_test

import (
	"net"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/server"
)

// TestHalfOpenFlood: 12,000 connections that never log in, from the address of a
// device, do not lock the device out. The relay keeps no more of them than its
// pool holds. The sockets are real.
func TestHalfOpenFlood(t *testing.T) {
	sockets := 12_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) < uint64(sockets)+2_000 {
		if os.Getenv("CI") == "true" {
			t.Fatal("too few files may be open", limit.Cur, err)
		}
		t.Skipf("%d files may be open here, too few for %d connections", limit.Cur, sockets)
	}
	if testing.Short() {
		sockets = 2_000
	}
	r := start(t, loopback(t), server.Config{Open: true})
	before := r.login()
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			c.Close()
		}
	})
	var flood sync.WaitGroup
	for range 4 {
		flood.Go(func() {
			for range sockets / 4 {
				c, err := net.Dial("tcp", r.host)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
			}
		})
	}
	flood.Wait()
	after := r.login()
	before.sendTo(after, "we are both here")
	after.expectFrom(before, "we are both here")
	if kept := sockets - r.count("moot_relay_half_open_evicted_total"); kept > server.DefaultLimits().HalfOpenPerAddress+1 {
		t.Errorf("%d connections that never log in are kept", kept)
	}
	if n := r.count(`moot_relay_rejects_total{code="full"}`) + r.count(`moot_relay_rejects_total{code="too_many"}`); n != 0 {
		t.Errorf("%d rejects", n)
	}
}
