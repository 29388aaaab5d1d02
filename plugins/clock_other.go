//go:build !linux

package plugins

import "time"

var started = time.Now()

// threadClock stands in for a thread's clock with half of the time that goes
// by: on a machine that does other things a decision shall not fail for it.
func threadClock() time.Duration { return time.Since(started) / 2 }
