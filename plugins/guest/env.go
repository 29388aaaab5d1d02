package guest

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// An Env is everything that a module can observe or affect outside its memory
// and globals: a clock, a random stream and a log. All of it follows from the
// input. One goroutine at a time uses it.
type Env struct {
	// Initializing gives the module the environment variables that it has
	// while it is set up, and only then.
	Initializing bool
	Fuel         api.MutableGlobal // that host functions charge; nil: none

	clock     int64 // nanoseconds; sleeping advances it
	seed      string
	random    *rand.ChaCha8
	log       []byte
	truncated bool // the log was full
}

// Begin resets the environment for one call: its clock, the seed of its random
// stream, and an empty log.
func (e *Env) Begin(nowMS int64, seed string) {
	e.clock = nowMS * 1e6
	e.seed = seed
	e.random = nil
	clear(e.log) // no other decision's text stays in memory
	e.log = e.log[:0]
	e.truncated = false
}

// Logged returns the log as text.
func (e *Env) Logged() string {
	if len(e.log) == 0 {
		return ""
	}
	return strings.ToValidUTF8(string(e.log), "\uFFFD")
}

// readRandom fills b from the random stream, which depends on the seed alone.
func (e *Env) readRandom(b []byte) {
	if e.random == nil {
		e.charge(costSeed)
		e.random = rand.NewChaCha8(sha256.Sum256([]byte(e.seed)))
	}
	_, _ = e.random.Read(b) // never fails
}

// write appends to the log and drops bytes over its limit.
func (e *Env) write(b []byte) {
	if free := MaxLog - len(e.log); len(b) > free {
		b = b[:max(free, 0)]
		e.truncated = true
	}
	e.log = append(e.log, b...)
}

var errOutOfFuel = errors.New("out of fuel")

// charge takes units of fuel for what a host function does, beyond the cost of
// every call. It ends the call when the fuel is used up: code without loops has
// no check of its own.
func (e *Env) charge(units int64) {
	if e.Fuel == nil {
		return
	}
	left := int64(e.Fuel.Get()) - units
	e.Fuel.Set(uint64(left))
	if left < 0 {
		panic(errOutOfFuel)
	}
}

// sleep advances the clock by ns, or to ns when absolute, by at most an hour.
func (e *Env) sleep(ns uint64, absolute bool) {
	if absolute {
		ns -= min(ns, uint64(e.clock))
	}
	e.clock += int64(min(ns, uint64(time.Hour)))
}

// environ returns the environment variables. Go's runtime then collects no
// garbage before its heap nears the limit, so that the snapshot's heap is
// dense and a decision seldom collects.
func (e *Env) environ() []string {
	if !e.Initializing {
		return nil
	}
	return []string{"GOGC=off", "GOMEMLIMIT=12MiB"}
}

type envKey struct{}

// WithContext returns a context in which the host functions find e.
func (e *Env) WithContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, envKey{}, e)
}

func envOf(ctx context.Context) *Env { return ctx.Value(envKey{}).(*Env) }
