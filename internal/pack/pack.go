package pack

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/folkmoot/moot/policies/policy"
)

// Limits of a pack. They stop decompression bombs.
const (
	MaxPacked   = 2 << 20 // bytes of the file
	MaxUnpacked = 8 << 20 // bytes of the archive in it
	MaxRatio    = 20      // of the two, where the file has at least minRatio bytes
	minRatio    = 4 << 10 // an archive of few small files is mostly padding
	MaxFiles    = 32
)

// Extension of a pack's file.
const Extension = ".tar.gz"

// Names in a pack.
const (
	manifestName = "policy.json"
	moduleName   = "policy.wasm"
	readmeName   = "README.md"
	casesFolder  = "cases/"
)

// A Pack is a policy with its manifest, README and test cases.
type Pack struct {
	Manifest policy.Manifest // with the module's name and digest when it was read
	Module   []byte          // with the manifest embedded
	Readme   []byte
	Cases    []File // in byte order of their names
}

// A File is a case.
type File struct {
	Name string // without its folder
	Text []byte
}

// Digest returns a SHA-256 in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
