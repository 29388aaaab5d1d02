//go:build !linux

package plugins

import "testing"

// resets are the ways in which a memory is put back: here there is one.
func resets(t *testing.T, f func(t *testing.T)) { t.Run("copy", f) }
