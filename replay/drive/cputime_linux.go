package drive

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock says what the times of decisions are.
const Clock = "processor time of the thread"

// decisionClock returns the processor time of this thread, so that what else
// the machine does counts little.
func decisionClock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every Linux has it
	return time.Duration(t.Nano())
}
