package sessions

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/problem"
)

// Rates of one sender. They bound what two agents that answer each other can use up.
var (
	createRate = perMinute{10}
	postRate   = perMinute{30}
)

type perMinute struct{ n int }

// maxSenders is how many senders have limiters of their own; the others share one.
const maxSenders = 1024

// rates limits senders. Its zero value is ready, and it is safe for concurrent use.
type rates struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

// allow counts one act of a sender, and refuses it if the sender has done too many.
func (r *rates) allow(from Sender, what string, l perMinute) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limiters == nil {
		r.limiters = map[string]*rate.Limiter{}
	}
	key := what + "\x00" + from.Room + "\x00" + from.Seat + "\x00" + from.Name
	if len(r.limiters) >= maxSenders && r.limiters[key] == nil {
		r.dropIdle()
		if len(r.limiters) >= maxSenders {
			key = what
		}
	}
	x := r.limiters[key]
	if x == nil {
		x = rate.NewLimiter(rate.Limit(float64(l.n)/60), l.n)
		r.limiters[key] = x
	}
	if x.Allow() {
		return nil
	}
	after := time.Duration(float64(time.Minute) / float64(l.n))
	return &problem.Error{
		Code: "SESSION-RATE", What: fmt.Sprintf("more than %d in a minute from one sender", l.n), Fix: "wait; poll the state of a session instead of asking it",
		Kind: &access.RetryError{After: after},
	}
}

// dropIdle removes the limiters of senders that have waited long enough.
func (r *rates) dropIdle() {
	for key, x := range r.limiters {
		if x.Tokens() >= float64(x.Burst()) {
			delete(r.limiters, key)
		}
	}
}
