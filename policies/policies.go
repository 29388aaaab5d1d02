// Package policies holds the built-in policies: their one WebAssembly module,
// embedded, and their manifests.
//
// The sources are the packages below this one. Each is a policy as anybody
// could write it, against the kit in policies/policy only, and runs in the
// sandbox like a stranger's. [Module] is what `go generate ./policies` built
// from them; the build is reproducible, a test compares, and [Verify] tells
// when the embedded bytes are not the ones that were built.
package policies

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/folkmoot/moot/policies/policy"
)

// The toolchain is pinned so that the same sources give the same bytes on
// every machine; neither paths nor the checkout's state get into the module.
//
//go:generate env GOOS=wasip1 GOARCH=wasm GOWASM= CGO_ENABLED=0 GOTOOLCHAIN=go1.26.8 GOFLAGS= GOEXPERIMENT= GOWORK=off go build -buildmode=c-shared -trimpath -buildvcs=false "-ldflags=-s -w -buildid=" -o builtins.wasm ./builtins/guest
//go:generate sh -c "sha256sum builtins.wasm | cut -c1-64 >builtins.sha256"

//go:embed builtins.wasm
var module []byte

//go:embed builtins.sha256
var digest string

// ErrDigest is what [Verify] returns when the module was altered.
var ErrDigest = errors.New("the built-in policies are not the ones that were built")

// CodeDigest is the stable code of a [DigestError].
const CodeDigest = "POL-DIGEST"

// A DigestError says that the embedded module has another digest than it was
// built with. It is an [ErrDigest].
type DigestError struct {
	Want, Got string // SHA-256, hex
}

// Error names both digests.
func (e *DigestError) Error() string {
	return ErrDigest.Error() + ": SHA-256 " + e.Got + ", expected " + e.Want
}

// Unwrap returns ErrDigest.
func (e *DigestError) Unwrap() error { return ErrDigest }

// ErrorCode returns CodeDigest.
func (e *DigestError) ErrorCode() string { return CodeDigest }

// Fix says what a user can do.
func (e *DigestError) Fix() string {
	return "install moot again from a source you trust; after a change of the sources run: go generate ./policies"
}

// Module returns the WebAssembly module of all built-in policies. Its
// configure call chooses one. The bytes are shared: do not write to them.
func Module() []byte { return module }

// Digest returns the SHA-256 that [Module] was built with, in hex.
func Digest() string { return strings.TrimSpace(digest) }

// Verify checks that [Module] is what was built. The error is a *[DigestError].
func Verify() error { return verify(module, Digest()) }

func verify(b []byte, want string) error {
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want {
		return &DigestError{Want: want, Got: got}
	}
	return nil
}

// Names returns the names of the built-in policies, in byte order.
func Names() []string { return slices.Clone(names) }

// Has reports whether there is a built-in policy of this name.
func Has(name string) bool { return slices.Contains(names, name) }

// Manifest returns the manifest of the built-in policy name, and the zero
// Manifest when there is none.
func Manifest(name string) policy.Manifest {
	if !Has(name) {
		return policy.Manifest{}
	}
	m := read(name)
	m.Wasm, m.SHA256 = "builtins.wasm", Digest()
	return m
}
