// Package examples contains example rooms that run unchanged. `moot init` copies
// them.
package examples

import "embed"

// Names are the names of the rooms, each a folder of [FS].
var Names = []string{"demo", "manager-worker", "one-to-one", "review"}

// FS contains one folder for each of [Names], without its README.md: a folder that gets
// the files may have one.
//
//go:embed demo one-to-one review manager-worker/*.yaml manager-worker/*.jsonl
var FS embed.FS
