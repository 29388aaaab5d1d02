//go:build !linux

package pool

import "time"

var started = time.Now()

// threadClock approximates the thread's processor time by half of the wall time,
// so that a decision does not fail on a busy machine.
func threadClock() time.Duration { return time.Since(started) / 2 }
