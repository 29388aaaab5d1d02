//go:build unix

package processes

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
)

// A way is one device's network to a relay. While it is cut nothing passes: no
// byte, no end of a connection, no new one; and nobody is told.
type way struct {
	forgets bool // what was open before a cut never works again, as behind a router that has forgotten it

	mu    sync.Mutex
	dead  chan struct{} // nil while it works; closed when it is restored
	cuts  int
	opens int
}

func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.cuts = make(chan struct{}), w.cuts+1
}

func (w *way) restore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.dead)
	w.dead = nil
}

// enter notes a new connection, once it gets through.
func (w *way) enter(ctx context.Context) (born int) {
	w.pass(ctx, int(^uint(0)>>1))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opens++
	return w.cuts
}

func (w *way) connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opens
}

// pass waits until the way works for a connection of after so many cuts; for
// ever, when it has forgotten it.
func (w *way) pass(ctx context.Context, born int) {
	for {
		w.mu.Lock()
		dead, lost := w.dead, w.forgets && w.cuts > born
		w.mu.Unlock()
		switch {
		case lost:
			<-ctx.Done()
			return
		case dead == nil:
			return
		}
		select {
		case <-dead:
		case <-ctx.Done():
			return
		}
	}
}

// serveWays passes connections on to a relay, each by the way that the path of
// its URL names, until ctx ends.
func serveWays(ctx context.Context, l net.Listener, relay string, ways map[string]*way) {
	var work sync.WaitGroup
	defer work.Wait()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		work.Go(func() { carry(ctx, c, relay, ways) })
	}
}

// carry passes one connection on.
func carry(ctx context.Context, c net.Conn, relay string, ways map[string]*way) {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	in := bufio.NewReader(c)
	get, err := in.ReadString('\n')
	if err != nil {
		return
	}
	w := ways[strings.Fields(get + " ? ?")[1]]
	if w == nil {
		return
	}
	born := w.enter(ctx)
	out, err := net.Dial("tcp", relay)
	if err != nil {
		return
	}
	defer out.Close()
	var back sync.WaitGroup
	back.Go(func() {
		w.copy(ctx, born, c, out)
		c.Close()
	})
	w.copy(ctx, born, out, io.MultiReader(strings.NewReader(get), in))
	out.Close()
	back.Wait()
}

// copy passes bytes on, and returns when the end has got through too.
func (w *way) copy(ctx context.Context, born int, to io.Writer, from io.Reader) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		w.pass(ctx, born)
		if _, werr := to.Write(b[:n]); err != nil || werr != nil || ctx.Err() != nil {
			return
		}
	}
}
