//go:build !unix

package sqlite_test

import "time"

// processorTime is not known on this system.
func processorTime() time.Duration { return 0 }
