package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const backoffFactor = 1.7

// A backoff says how long to wait before the next attempt: at random up to a
// limit that grows with every attempt, so that the endpoints of a relay that
// was down do not come back all at once.
type backoff struct {
	timing       Timing
	attempts     int
	restartUntil time.Time // until then the relay has promised to be back
}

// restartCap bounds the wait while a relay restarts as it has announced.
const restartCap = 5 * time.Second

// onDisconnect says how long the last connection was held.
func (b *backoff) onDisconnect(d time.Duration) {
	if d >= b.timing.Stable {
		b.attempts = 0
	}
}

// next returns how long to wait after err.
func (b *backoff) next(err error) time.Duration {
	var restart *Restarting
	var rejected *Rejected
	switch {
	case errors.As(err, &restart):
		b.attempts = 0
		b.restartUntil = time.Now().Add(min(restart.TryFor, b.timing.Cap))
		return min(restart.ReconnectIn, b.timing.Cap) // the relay has spread it
	case errors.Is(err, ErrReplaced):
		return b.timing.Cap // whoever has taken over shall not be fought
	case errors.As(err, &rejected) && rejected.Retry > 0:
		b.attempts++
		return min(rejected.Retry, b.timing.Cap) + jitter(b.timing.First)
	case isPermanent(err):
		return b.timing.Cap
	}
	limit := b.timing.Cap
	if time.Now().Before(b.restartUntil) {
		limit = min(limit, restartCap)
	}
	d := float64(b.timing.First)
	for range b.attempts {
		if d *= backoffFactor; d >= float64(limit) {
			break
		}
	}
	b.attempts++
	return jitter(min(time.Duration(d), limit))
}

// jitter returns anything up to d.
func jitter(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }

// sleep waits, and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
