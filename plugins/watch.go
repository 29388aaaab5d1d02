package plugins

import (
	"math"
	"runtime"
	"sync"
	"time"
)

// A watch ends what fuel does not end in time. Fuel is the same everywhere and
// ends nearly all within 100 ms; but a module that misses the cache at every
// load, or a slow machine, can make of 50 million units a second, in which
// compiled code cannot be interrupted and a garbage collection makes everybody
// wait. So strangers' code is looked at every few milliseconds, and when it has
// had its time of the processor, the value under which fuel counts as spent is
// raised: the next check ends it. Only a decision that fails is ended so, and
// none gets another answer.
type watch struct {
	mu      sync.Mutex
	running []*watched
	asleep  bool
	wake    chan struct{}
	quit    chan struct{}
	ended   chan struct{}
}

type watched struct {
	in      *instance
	thread  int
	first   time.Duration // of the thread's clock, when first looked at
	looked  bool
	stopped bool
}

const (
	watchEvery = 5 * time.Millisecond
	// watchMost is the time that the first look may miss and the last one adds
	// short of 100 ms.
	watchMost = 85 * time.Millisecond
	// watchIdle is for how many looks at nothing the watch stays awake.
	watchIdle = 100
)

func newWatch() *watch {
	w := &watch{asleep: true, wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{})}
	go w.run()
	return w
}

// close ends the watch and waits for it.
func (w *watch) close() {
	close(w.quit)
	<-w.ended
}

// begin watches an instance that is about to run in this goroutine. nil
// watches nothing.
func (w *watch) begin(in *instance) *watched {
	if w == nil {
		return nil
	}
	runtime.LockOSThread()
	d := &watched{in: in, thread: thisThread()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = append(w.running, d)
	if w.asleep {
		w.asleep = false
		w.wake <- struct{}{}
	}
	return d
}

// end stops watching and tells whether the instance was stopped.
func (w *watch) end(d *watched) bool {
	if d == nil {
		return false
	}
	runtime.UnlockOSThread()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.running {
		if r == d {
			w.running = append(w.running[:i], w.running[i+1:]...)
			break
		}
	}
	return d.stopped
}

func (w *watch) run() {
	defer close(w.ended)
	for {
		select {
		case <-w.wake:
		case <-w.quit:
			return
		}
		if !w.patrol() {
			return
		}
	}
}

// patrol looks until there was nothing to see for a while; false means quit.
func (w *watch) patrol() bool {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for idle := 0; ; idle++ {
		select {
		case <-t.C:
		case <-w.quit:
			return false
		}
		w.mu.Lock()
		for _, d := range w.running {
			idle = 0
			d.look()
		}
		if idle >= watchIdle {
			w.asleep = true
			w.mu.Unlock()
			return true
		}
		w.mu.Unlock()
	}
}

// look stops an instance whose time is over.
func (d *watched) look() {
	now := threadClock(d.thread)
	if !d.looked {
		d.first, d.looked = now, true
	}
	if now-d.first >= watchMost && !d.stopped {
		d.stopped = true
		d.in.stop().Set(math.MaxInt64)
	}
}
