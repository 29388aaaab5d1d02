package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// sandbox starts the host in which policies run. Inputs of decisions that
// fail are kept in the data folder. The caller closes it.
func (a *app) sandbox() (*plugins.Host, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	return plugins.NewHost(plugins.Config{
		CacheDir: filepath.Join(a.settings.Cache, "policies"), FailDir: filepath.Join(a.settings.Data, "failed"), Tiered: true,
	})
}

// policyRef is everything about a built-in policy that a room's log keeps.
func policyRef(use string, settings policy.JSON, hints bool) (room.PolicyRef, error) {
	if !policies.Has(use) {
		return room.PolicyRef{}, noPolicy(use)
	}
	s := supply{Use: use, Manifest: policies.Manifest(use)}
	return s.ref(settings, hints), nil
}

// codeNoPolicy is of a policy that is not there.
const codeNoPolicy = "ROOM-POLICY"

func noPolicy(use string) error {
	return &problem.Error{
		Code: codeNoPolicy, What: fmt.Sprintf("there is no policy %q", use),
		Fix: "built in are " + strings.Join(policies.Names(), ", ") + "; a path starts with ./, and `moot policy install` brings others",
	}
}

// newRef finds the policy that a user names and keeps its module, so that the
// room can be opened again and checked without where it came from.
func (h *host) newRef(ctx context.Context, dir, use string, settings policy.JSON, hints bool) (room.PolicyRef, error) {
	s, err := h.app.findPolicy(ctx, dir, use)
	if err != nil {
		return room.PolicyRef{}, err
	}
	return s.ref(settings, hints), h.keep(ctx, s)
}

// keep puts a module into the log, the built-in ones too: the next release
// has others.
func (h *host) keep(ctx context.Context, s *supply) error {
	if s.Origin == originLog || h.log == nil {
		return nil
	}
	if _, err := h.log.PutBlob(ctx, s.Module); err != nil {
		return fmt.Errorf("keeping the policy's module: %w", err)
	}
	return nil
}

// moduleOf finds the module that a log names by its digest: the one that is
// built in, or one that was kept.
func moduleOf(ctx context.Context, db *sqlite.DB, ref room.PolicyRef) (*supply, error) {
	if ref.Digest == policies.Digest() && policies.Has(ref.Name) {
		if err := policies.Verify(); err != nil {
			return nil, err
		}
		return &supply{Use: ref.Use, Origin: originBuiltIn, Manifest: policies.Manifest(ref.Name), Module: policies.Module(), named: true}, nil
	}
	if db != nil {
		module, err := db.Blob(ctx, ref.Digest)
		if err == nil {
			return ofLog(module, ref.Name, ref.Digest)
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

// digestPrefix begins the name of a module of the log: sha256:DIGEST, with
// @NAME where a module that carries no manifest was called NAME.
const digestPrefix = "sha256:"

// ofLog makes a supply of a kept module. A module without a manifest keeps
// the name that the room gave it.
func ofLog(module []byte, name, digest string) (*supply, error) {
	s, err := ofModule(module, originLog, digestPrefix+digest)
	if err != nil {
		return nil, err
	}
	s.Use = digestPrefix + digest
	if !s.named && name != "" {
		s.Manifest.Name = name // it is configured with it
		s.Use += "@" + name
	}
	return s, nil
}

// policyOfLog finds a module of the data folder by its digest.
func (a *app) policyOfLog(ctx context.Context, digest string) (*supply, error) {
	db, err := a.openLog(true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	digest, name, _ := strings.Cut(digest, "@")
	module, err := db.Blob(ctx, digest)
	if errors.Is(err, log.ErrNotFound) {
		return nil, &problem.Error{Code: "POL-MISSING", What: "no policy of that digest was run here", Where: digestPrefix + digest, Fix: "--data names another data folder"}
	}
	if err != nil {
		return nil, err
	}
	return ofLog(module, name, digest)
}

// A loading is a policy that is being loaded beside other work.
type loading struct {
	ref  room.PolicyRef
	done chan struct{} // closed when the others are set
	p    coordinator.Policy
	err  error
}

// preload begins to load the policy that a room will ask for first. Compiling
// takes a moment, and so does opening a room.
func (h *host) preload(ref room.PolicyRef) {
	l := &loading{ref: ref, done: make(chan struct{})}
	h.early = l
	go func() { // Close waits for it
		defer close(l.done)
		l.p, l.err = h.load(context.Background(), ref)
	}()
}

// policy loads the policy that a room names. One room runs in a host, and
// only its loop asks.
func (h *host) policy(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	if l := h.early; l != nil && reflect.DeepEqual(l.ref, ref) {
		<-l.done
		h.early = nil
		return l.p, l.err
	}
	return h.load(ctx, ref)
}

func (h *host) load(ctx context.Context, ref room.PolicyRef) (coordinator.Policy, error) {
	s, err := moduleOf(ctx, h.log, ref)
	if err != nil {
		return nil, err
	}
	p, err := h.sandbox.Load(ctx, h.app.module(s, ref.Settings))
	if err != nil {
		return nil, err // a nil *plugins.Policy would be no nil Policy
	}
	return p, nil
}

// policyNames returns the names that a room in dir may use, nil when its lock
// cannot be read: then looking for the policy says so.
func policyNames(dir string) []string {
	lock, err := pack.ReadLock(dir)
	if err != nil {
		return nil
	}
	names := policies.Names()
	for _, e := range lock.Policies {
		names = append(names, e.Name)
	}
	return names
}

// settingsSchema returns a func that returns the JSON Schema of a policy's
// settings, as a room in dir names it. Nothing is built for it.
func (a *app) settingsSchema(dir string) func(use string) ([]byte, error) {
	return func(use string) ([]byte, error) {
		m, err := a.manifest(dir, use)
		if err != nil || m.ConfigSchema == nil {
			return nil, err
		}
		b, err := json.Marshal(m.ConfigSchema)
		if err != nil {
			return nil, fmt.Errorf("reading the settings of %s: %w", use, err)
		}
		return b, nil
	}
}

// manifest returns the manifest of a policy without building it.
func (a *app) manifest(dir, use string) (policy.Manifest, error) {
	if policies.Has(use) {
		return policies.Manifest(use), nil
	}
	if config.IsPath(use) {
		path := use
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if m, ok, err := folderManifest(path); ok {
			return m, err
		}
	}
	s, err := a.find(context.Background(), dir, use)
	if err != nil {
		return policy.Manifest{}, err
	}
	return s.Manifest, nil
}
