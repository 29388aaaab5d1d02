package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// DigestPrefix begins the name of a module that the log keeps:
// sha256:DIGEST, with @NAME where a module without a manifest was called NAME.
const DigestPrefix = "sha256:"

// Blobs reads modules that the log keeps.
type Blobs interface {
	Blob(ctx context.Context, digest string) ([]byte, error)
}

// Stored finds the module that a log names by its digest: a built-in one, or
// one that the log keeps. A nil blobs has none.
func Stored(ctx context.Context, blobs Blobs, ref room.PolicyRef) (*Entry, error) {
	if ref.Digest == policies.Digest() && policies.Has(ref.Name) {
		e, err := builtIn(ref.Name)
		if err == nil {
			e.Use = ref.Use
		}
		return e, err
	}
	if blobs != nil {
		module, err := blobs.Blob(ctx, ref.Digest)
		if err == nil {
			return fromLog(module, ref.Name, ref.Digest)
		}
		if !errors.Is(err, log.ErrNotFound) {
			return nil, err
		}
	}
	if policies.Has(ref.Name) {
		return nil, &problem.Error{
			Code: policies.CodeDigest, What: fmt.Sprintf("the room's policy %q is another build: the log names SHA-256 %s, this moot has %s", ref.Name, ref.Digest, policies.Digest()),
			Fix: "use the release of moot that opened the room, or change the policy with --policy " + ref.Name,
		}
	}
	return nil, &problem.Error{
		Code: "POL-MISSING", What: fmt.Sprintf("the module of policy %q is not in the data folder", ref.Name), Where: "sha256 " + ref.Digest,
		Fix: "use the data folder that the room was run in, or change the policy with --policy NAME",
	}
}

// fromLog returns the policy in a module that the log keeps. A module without
// a manifest keeps the name that the room gave it.
func fromLog(module []byte, name, digest string) (*Entry, error) {
	e, err := fromModule(module, Log, DigestPrefix+digest)
	if err != nil {
		return nil, err
	}
	e.Use = DigestPrefix + digest
	if !e.named && name != "" {
		e.Manifest.Name = name // it is configured with it
		e.Use += "@" + name
	}
	return e, nil
}
