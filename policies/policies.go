// Package policies holds the built-in policies: one embedded WebAssembly module
// and their manifests.
//
// The sources are the packages below this one. They use the SDK in
// policies/policy only, and run in the sandbox like any other policy. `go
// generate ./policies` builds [Module] from them. The build is reproducible and
// a test repeats it. [Verify] reports embedded bytes that differ from the ones
// that were built.
package policies

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/folkmoot/moot/policies/policy"
)

// The toolchain is pinned so that the same sources give the same bytes on
// every machine. The module holds neither paths nor the state of the checkout.
// It is embedded in compressed form.
//
//go:generate env GOOS=wasip1 GOARCH=wasm GOWASM= CGO_ENABLED=0 GOTOOLCHAIN=go1.26.8 GOFLAGS= GOEXPERIMENT= GOWORK=off go build -buildmode=c-shared -trimpath -buildvcs=false "-ldflags=-s -w -buildid=" -o builtins.wasm ./builtins/guest
//go:generate env GOTOOLCHAIN=go1.26.8 go run ./builtins/embed builtins.wasm

//go:embed builtins.wasm.gz
var compressed []byte

//go:embed builtins.sha256
var digest string

// ErrDigest is the error that a [DigestError] wraps.
var ErrDigest = errors.New("the built-in policies are not the ones that were built")

// CodeDigest is the stable code of a [DigestError].
const CodeDigest = "POL-DIGEST"

// A DigestError reports that the embedded module has another digest than the
// module that was built. It wraps [ErrDigest].
type DigestError struct {
	Want, Got string // SHA-256, hex
}

// Error returns a message with both digests.
func (e *DigestError) Error() string {
	return ErrDigest.Error() + ": SHA-256 " + e.Got + ", expected " + e.Want
}

// Unwrap returns ErrDigest.
func (e *DigestError) Unwrap() error { return ErrDigest }

// ErrorCode returns CodeDigest.
func (e *DigestError) ErrorCode() string { return CodeDigest }

// Fix returns advice for the user.
func (e *DigestError) Fix() string {
	return "install moot again from a source you trust; after a change of the sources run: go generate ./policies"
}

// Module returns the WebAssembly module of all built-in policies. Its configure
// call chooses one. The first call decompresses the module; if the embedded
// bytes are damaged it returns nil and [Verify] fails. The result is shared and
// must not be changed. Module is safe for concurrent use.
var Module = sync.OnceValue(func() []byte { return decompress(compressed) })

// maxModule bounds the memory for a damaged module, in bytes.
const maxModule = 64 << 20

func decompress(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	size := binary.LittleEndian.Uint32(b[len(b)-4:]) // RFC 1952: the last field is the size of the content
	module := make([]byte, min(size, maxModule))
	if _, err := io.ReadFull(z, module); err != nil {
		return nil
	}
	return module
}

// Digest returns the SHA-256 of the module that was built, in hex.
func Digest() string { return strings.TrimSpace(digest) }

// Verify checks that [Module] has the digest [Digest], once in a process. The error is a
// *[DigestError].
func Verify() error { return verified() }

var verified = sync.OnceValue(func() error { return verify(Module(), Digest()) })

func verify(b []byte, want string) error {
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want {
		return &DigestError{Want: want, Got: got}
	}
	return nil
}

// Names returns the names of the built-in policies, in byte order.
func Names() []string { return slices.Clone(names) }

// Has reports whether a built-in policy has this name.
func Has(name string) bool { return slices.Contains(names, name) }

// Reserved reports whether a valid name is that of a built-in policy, or another
// spelling of it: a room's policy round-robin is roundrobin.
func Reserved(name string) bool { return Has(strings.ReplaceAll(name, "-", "")) }

// Manifest returns the manifest of the built-in policy name, or the zero
// Manifest if none has this name.
func Manifest(name string) policy.Manifest {
	if !Has(name) {
		return policy.Manifest{}
	}
	m := read(name)
	m.Wasm, m.SHA256 = "builtins.wasm", Digest()
	return m
}
