// Package examples holds rooms that run as they stand. `moot init` copies
// them.
package examples

import "embed"

// Names are the rooms that can be copied, each a folder of [FS].
var Names = []string{"demo", "one-to-one", "review"}

// FS holds one folder for each of [Names].
//
//go:embed demo one-to-one review
var FS embed.FS
