// Command fakemodel serves the fake language model of package model on a
// loopback address, until it is interrupted. It prints its address.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/folkmoot/moot/test/agents/model"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 chooses a free one")
	log := flag.String("log", "", "`file` that gets a line of JSON for each model call")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *listen, *log, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, address, log string, out io.Writer) error {
	cfg := model.Config{}
	if log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		cfg.Log = f
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("%s is not a loopback address, and the model asks for no key: use --listen 127.0.0.1:0", address), l.Close())
	}
	fmt.Fprintf(out, "http://%s\n", l.Addr())
	server := &http.Server{Handler: model.New(cfg), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
