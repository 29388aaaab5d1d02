//go:build !linux

package drive

import "time"

// Clock says what the times of decisions are. This system has no clock of a
// thread's processor time that this package uses.
const Clock = "elapsed time"

var processStart = time.Now()

// decisionClock returns the elapsed time.
func decisionClock() time.Duration { return time.Since(processStart) }
