package client

import (
	"errors"
	"math/rand/v2"
	"time"
)

const backoffFactor = 1.7

// A backoff computes the delay before the next attempt: exponential back-off
// with full jitter
// (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
// The jitter keeps the endpoints of a restarted relay from reconnecting at
// once.
type backoff struct {
	timing       Timing
	attempts     int
	restartUntil time.Time // until then the relay has announced to return
}

// restartCap limits the delay while a relay restarts as announced.
const restartCap = 5 * time.Second

// onDisconnect resets the back-off if the last connection was stable. d is how
// long it lasted.
func (b *backoff) onDisconnect(d time.Duration) {
	if d >= b.timing.Stable {
		b.attempts = 0
	}
}

// next returns the delay before the next attempt after err.
func (b *backoff) next(err error) time.Duration {
	var restart *Restarting
	var rejected *Rejected
	switch {
	case errors.As(err, &restart):
		b.attempts = 0
		b.restartUntil = time.Now().Add(min(restart.TryFor, b.timing.Cap))
		return min(restart.ReconnectIn, b.timing.Cap) // the relay has already added jitter
	case errors.Is(err, ErrReplaced):
		return b.timing.Cap // another process took over: do not compete with it
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

// jitter returns a random duration up to d.
func jitter(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }
