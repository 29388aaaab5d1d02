package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/folkmoot/moot/endpoints/relay/server"
)

func dialTCP(ctx context.Context, network, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, addr)
}

// serveForBench runs the relay in a process of its own and answers questions
// about the process until stdin ends.
func serveForBench(s *server.Server) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "address":
			fmt.Println(l.Addr())
		case "memory":
			runtime.GC()
			debug.FreeOSMemory()
			fmt.Println(resident())
		case "goroutines":
			fmt.Println(runtime.NumGoroutine())
		}
	}
	cancel()
	if err := <-done; err != nil {
		panic(err)
	}
}
