//go:build !unix

package worker

import "runtime/debug"

// enforce sets the garbage collector's limit only. The parent's timer limits
// the time.
func (l Limits) enforce() { debug.SetMemoryLimit(int64(l.Memory / 10 * 7)) }
