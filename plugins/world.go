package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// A world is everything that a guest can observe or affect outside its own
// memory and globals: a clock, a random stream and a log. All of it follows
// from the input, so that the same input always meets the same world.
type world struct {
	nowNS   int64  // the clock; sleeping moves it
	seed    string // of the random stream
	random  *rand.ChaCha8
	log     []byte
	cut     bool // the log was full
	environ []string
	fuel    api.MutableGlobal
}

// begin puts the world into its first state.
func (w *world) begin(nowMS int64, seed string) {
	w.nowNS = nowMS * 1e6
	w.seed = seed
	w.random = nil
	w.log = w.log[:0]
	w.cut = false
}

// fill reads the random stream. It is a function of the seed alone.
func (w *world) fill(b []byte) {
	if w.random == nil {
		w.random = rand.NewChaCha8(sha256.Sum256([]byte(w.seed)))
	}
	_, _ = w.random.Read(b) // never fails
}

// write appends to the log; what is over its bound is dropped.
func (w *world) write(b []byte) {
	if room := maxLog - len(w.log); len(b) > room {
		b = b[:max(room, 0)]
		w.cut = true
	}
	w.log = append(w.log, b...)
}

// logged returns the log as text.
func (w *world) logged() string {
	if len(w.log) == 0 {
		return ""
	}
	return strings.ToValidUTF8(string(w.log), "\uFFFD")
}

// charge takes a unit of fuel for every so many of n bytes that the host works
// on, and ends the call when there is none left.
func (w *world) charge(n, bytes uint32) {
	if w.fuel == nil {
		return
	}
	left := int64(w.fuel.Get()) - int64(n/bytes)
	w.fuel.Set(uint64(left))
	if left < 0 {
		panic(errOverdraft) // straight code has no check of its own
	}
}

// sleep moves the clock by ns, or to ns, and never more than an hour at once.
func (w *world) sleep(ns uint64, absolute bool) {
	if absolute {
		ns -= min(ns, uint64(w.nowNS))
	}
	w.nowNS += int64(min(ns, uint64(time.Hour)))
}

func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

type worldKey struct{}

// in returns a context through which the host functions find w.
func (w *world) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, worldKey{}, w)
}

func worldOf(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
