//go:build !linux

package pool

import "testing"

// restoreWays runs f with the one way to restore a memory.
func restoreWays(t *testing.T, f func(t *testing.T)) { t.Run("copy", f) }
