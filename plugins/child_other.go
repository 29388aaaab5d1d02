//go:build !unix

package plugins

import "runtime/debug"

// limitChild has the collector's limit only; the parent's clock does the rest.
func limitChild(j job) { debug.SetMemoryLimit(int64(j.MemoryBytes / 10 * 7)) }
