package endpoint

import (
	"context"
	"sync"
	"time"
)

// WithClock returns a context whose deadline passes after d of running time. While
// the clock is held, see [Hold], time does not pass. At the deadline the error of
// the context is context.DeadlineExceeded. Its Deadline method states none,
// because the time of the deadline is not known in advance.
func WithClock(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(parent)
	c := &clock{Context: inner, done: make(chan struct{}), left: d}
	context.AfterFunc(inner, func() { close(c.done) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire = func() { cancel(context.DeadlineExceeded) }
	c.run()
	return c, func() {
		cancel(context.Canceled)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timer.Stop()
	}
}

// Hold stops the clocks of ctx until release is called: all that [WithClock] has
// made above it. Holds may overlap. Release may be called more than once.
func Hold(ctx context.Context) (release func()) {
	c, ok := ctx.Value(clockKey{}).(*clock)
	if !ok {
		return func() {}
	}
	above := Hold(c.Context)
	c.hold()
	return sync.OnceFunc(func() {
		c.release()
		above()
	})
}

type clockKey struct{}

// A clock is a context whose deadline can be held.
type clock struct {
	context.Context // ends at the deadline
	// done is another channel than that of Context. Otherwise package context would
	// take the contexts below from Context, whose error is Canceled at the deadline.
	done   chan struct{}
	expire func()

	mu    sync.Mutex
	left  time.Duration // when the clock was last started
	since time.Time     // when that was
	holds int
	timer *time.Timer
}

// Value returns the clock itself for its own key.
func (c *clock) Value(key any) any {
	if key == (clockKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Done is closed when the context has ended.
func (c *clock) Done() <-chan struct{} { return c.done }

// Err is context.DeadlineExceeded after the deadline.
func (c *clock) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// run starts the clock. The caller holds mu.
func (c *clock) run() {
	c.since = time.Now()
	c.timer = time.AfterFunc(c.left, c.expire)
}

func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds++; c.holds == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds--; c.holds == 0 && c.Context.Err() == nil {
		c.run()
	}
}
