//go:build !unix

package compile

import "runtime/debug"

// limitChild sets the garbage collector's limit only. The parent's timer limits
// the time.
func limitChild(j job) { debug.SetMemoryLimit(int64(j.MemoryBytes / 10 * 7)) }
