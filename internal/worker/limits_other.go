//go:build !unix

package worker

import (
	"runtime/debug"
	"time"
)

// enforce sets the garbage collector's limit only. The time is watched.
func (l Limits) enforce() { debug.SetMemoryLimit(int64(l.Memory / 10 * 7)) }

var started = time.Now()

// processorTime takes a twentieth of the wall time for the processor time that
// this process has used, so that a busy machine seldom ends it.
func processorTime() time.Duration { return time.Since(started) / 20 }
