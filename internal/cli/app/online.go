package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/folkmoot/moot/endpoints/relay/device"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/local"
	"github.com/folkmoot/moot/internal/server"
)

// Online returns a client of the process of this data folder that is online, or
// that is the server. If there is none, this process takes the place until done
// is called.
func (a *App) Online() (c *client.Client, done func(), err error) {
	if s, err := a.findOnline(); err == nil {
		c := client.Local("", s.Dial)
		return c, c.Close, nil
	} else if !errors.Is(err, local.ErrNone) {
		return nil, nil, err
	}
	h, err := a.Wiring().OpenHost()
	if err != nil {
		return nil, nil, err
	}
	stop := a.ServeLocal(h)
	l := newPipeListener()
	ctx, cancel := context.WithCancel(context.Background())
	s := server.New(server.Config{Host: h, Log: a.Log})
	handle := s.SocketHandler()
	var serving, calls sync.WaitGroup
	serving.Go(func() {
		_ = s.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // it ends with ctx
			calls.Add(1)
			defer calls.Done()
			handle.ServeHTTP(w, r)
		}))
	})
	c = client.Local("", l.dial)
	return c, func() {
		stop()
		c.Close()
		cancel()
		serving.Wait()
		calls.Wait()
		if err := h.Close(); err != nil {
			a.Log.Warn("this process did not end as it should", "error", err)
		}
	}, nil
}

// findOnline finds the process in which the device is online, else the server.
func (a *App) findOnline() (local.Socket, error) {
	data := a.Settings.Data
	if pid := device.Holder(a.Wiring().DeviceDir()); pid > 0 && pid != os.Getpid() {
		if s, err := local.FindProcess(data, pid); !errors.Is(err, local.ErrNone) {
			return s, err
		}
	}
	return local.FindDaemon(data)
}

// A pipeListener connects an HTTP server to a client in the same process.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// dial connects to the server.
func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "moot", Net: "pipe"} }
