package worker

import (
	"os"
	"time"
)

// watch ends the process when it waits for ever, or when it has used its
// processor time and the system did not end it. It does not look at the wall
// time, which on a busy machine says nothing about the work.
func watch(l Limits) {
	w := idleWatch{most: int(l.idle() / time.Second)}
	for range time.Tick(time.Second) { // ticks are dropped while the process is stopped
		used := processorTime()
		if used > l.CPU+2*time.Second {
			os.Exit(exitTooSlow)
		}
		if w.tick(used) {
			os.Exit(exitIdle)
		}
	}
}

func (l Limits) idle() time.Duration {
	if l.Idle <= 0 {
		return DefIdle
	}
	return l.Idle
}

// minProgress is the processor time under which a process counts as idle. The
// watch itself takes about a tenth of it in 30 s.
const minProgress = 10 * time.Millisecond

// An idleWatch counts for how many seconds a process made no progress.
type idleWatch struct {
	most  int // seconds
	last  time.Duration
	ticks int
}

// tick notes the processor time that the process has used, once a second. It
// reports whether the process is idle.
func (w *idleWatch) tick(used time.Duration) bool {
	if used-w.last >= minProgress {
		w.last, w.ticks = used, 0
		return false
	}
	w.ticks++
	return w.ticks >= w.most
}
