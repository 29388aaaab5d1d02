// Package pack reads and writes packages of policies ("packs"): one file with the
// manifest, the module, a README and test cases. A pack is installed as one file
// under its SHA-256. moot.lock in a room's folder pins it.
//
// # The file
//
// A pack is a tar archive in gzip. It contains policy.json, policy.wasm,
// README.md and cases/NAME.yaml, in this order, and nothing else. It is not a
// zip file, because zip has two lists of the contents, and readers that use
// different lists see different packs. A pack is reproducible: the same folder
// gives the same bytes, without times, owners and paths. It is also canonical:
// [Read] encodes the decoded pack again and refuses the archive if the bytes
// differ. So padding, extended headers and a tail cannot hide data.
//
// # Trust
//
// A signature is a file next to the pack, in minisign's format. The user names
// the key at the first installation; moot.lock stores it. From then on
// [Lock.Admit] refuses another key, an older version, and other bytes under the
// same version; [Lock.Drop] removes the pin. Each use of a pack compares the
// SHA-256 of its bytes with the lock.
//
// Every refusal is a *problem.Error with a code POL-PACK-..., POL-LOCK,
// POL-MANIFEST or POL-ABI.
package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"golang.org/x/mod/semver"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
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

// versionForm bounds the numbers and forbids build metadata, which
// https://semver.org ignores when it orders versions.
var versionForm = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]+)?$`)

// ValidVersion reports whether s is a version such as 1.2.3 or 1.2.3-rc.1.
func ValidVersion(s string) bool { return parsed(s) != "" }

// CompareVersions returns -1, 0 or 1 in the order of https://semver.org
// (section 11). An invalid version comes before all valid ones.
func CompareVersions(a, b string) int { return semver.Compare(parsed(a), parsed(b)) }

// parsed returns s in the form of package semver, or "" if it is invalid.
func parsed(s string) string {
	if len(s) > 64 || !versionForm.MatchString(s) || !semver.IsValid("v"+s) {
		return ""
	}
	return "v" + s
}

// Refuse returns the coded error of a refusal.
func Refuse(code, where, fix, format string, args ...any) *problem.Error {
	return &problem.Error{Code: code, Where: where, Fix: fix, What: fmt.Sprintf(format, args...)}
}

// Reason returns the message of a file system error without its path: the Where
// of the coded error already names it.
func Reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
