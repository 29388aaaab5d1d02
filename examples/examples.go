// Package examples contains example rooms that run unchanged. `moot init` copies
// them.
package examples

import "embed"

// Names are the names of the rooms, each a folder of [FS].
var Names = []string{"demo", "one-to-one", "review"}

// FS contains one folder for each of [Names].
//
//go:embed demo one-to-one review
var FS embed.FS
