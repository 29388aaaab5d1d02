// Package catalog finds policies by what users call them: a built-in name, a
// policy's folder, a .wasm file, a pack, an installed policy that moot.lock
// pins, or the digest of a module that the log keeps.
//
// Finding runs no policy. A folder is built when its sources changed.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// A Catalog finds policies. The zero Catalog finds built-in policies, folders
// and files. Its methods are safe for concurrent use.
type Catalog struct {
	Store pack.Store // installed packs
	// OpenBlobs opens the log for reading; the caller closes it. A nil func has
	// no log.
	OpenBlobs func() (BlobsCloser, error)
	// Output gets what compilers print; nil discards it.
	Output io.Writer
	// Note is told when a folder is built; may be nil.
	Note func(format string, args ...any)
}

// A BlobsCloser is a log that is open for reading modules.
type BlobsCloser interface {
	Blobs
	Close() error
}

// CodeUnknown is the code of a policy that does not exist.
const CodeUnknown = "ROOM-POLICY"

func unknown(use string) error {
	return &problem.Error{
		Code: CodeUnknown, What: fmt.Sprintf("there is no policy %q", use),
		Fix: "built in are " + strings.Join(policies.Names(), ", ") + "; a path starts with ./, and `moot policy install` brings others",
	}
}

// Find finds a policy as room.yaml names it: a built-in one, a path relative
// to dir, a policy that dir's moot.lock pins, or a digest of the log. See
// [config.PolicyName] for how names are compared.
func (c *Catalog) Find(ctx context.Context, dir, use string) (*Entry, error) {
	use = canonical(dir, use)
	e, err := c.find(ctx, dir, use)
	if err != nil {
		return nil, err
	}
	e.Use = use
	if e.Origin != BuiltIn && e.Origin != Log { // rooms of another release have its built-in policies in the log
		if err := e.CheckName(); err != nil {
			return nil, err
		}
	}
	return e, e.CheckHost()
}

// canonical returns the name of the policy that use means, or use itself.
func canonical(dir, use string) string {
	if config.IsPath(use) || strings.HasPrefix(use, DigestPrefix) {
		return use
	}
	if name, ok := config.PolicyName(use, Names(dir)); ok {
		return name
	}
	return use
}

func (c *Catalog) find(ctx context.Context, dir, use string) (*Entry, error) {
	if policies.Has(use) {
		return builtIn(use)
	}
	if digest, ok := strings.CutPrefix(use, DigestPrefix); ok {
		return c.inLog(ctx, digest)
	}
	if config.IsPath(use) {
		return c.At(ctx, within(dir, use))
	}
	lock, err := pack.ReadLock(dir)
	if err != nil {
		return nil, err
	}
	locked := lock.Find(use)
	if locked == nil {
		return nil, unknown(use)
	}
	return c.Installed(locked.Name, locked.SHA256)
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Named finds a policy as a command's argument names it: like Find in the
// working folder, but a folder or a file needs no ./ before it.
func (c *Catalog) Named(ctx context.Context, arg string) (*Entry, error) {
	e, err := c.Find(ctx, ".", arg)
	if isUnknown(err) && !config.IsPath(arg) {
		if _, serr := os.Stat(arg); serr == nil {
			return c.Find(ctx, ".", "./"+arg)
		}
	}
	return e, err
}

// Pinned finds the policy of a room.yaml in dir. With a digest any other
// module is refused, and an installed policy needs no moot.lock.
func (c *Catalog) Pinned(ctx context.Context, dir, use, digest string) (*Entry, error) {
	e, err := c.Find(ctx, dir, use)
	if digest != "" && isUnknown(err) && pack.ValidName(use) {
		e, err = c.installedWith(use, digest)
	}
	if err != nil || digest == "" || e.Manifest.SHA256 == digest {
		return e, err
	}
	return nil, &plugins.Error{
		Code: plugins.CodeDigest, Where: "policy " + use, What: "the module has the digest " + e.Manifest.SHA256 + "; room.yaml wants " + digest,
		Fix: "get the module that was approved, or approve this one: change policy.sha256",
	}
}

func isUnknown(err error) bool {
	p, ok := errors.AsType[*problem.Error](err)
	return ok && p.Code == CodeUnknown
}

// At reads the policy's folder, module or pack at path.
func (c *Catalog) At(ctx context.Context, path string) (*Entry, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &problem.Error{Code: CodeUnknown, What: "there is no policy", Where: path, Fix: "name a policy's folder, a .wasm file or a name; `moot policy ls` lists the names"}
	case err != nil:
		return nil, unreadable(path, err)
	case st.IsDir():
		return c.InFolder(ctx, path)
	case st.Size() > plugins.MaxModule:
		return nil, &plugins.Error{Code: plugins.CodeLimits, Where: path, What: fmt.Sprintf("the file has %d bytes; at most %d", st.Size(), plugins.MaxModule), Fix: "build it smaller"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if strings.HasSuffix(path, pack.Extension) {
		p, err := pack.Read(path, text)
		if err != nil {
			return nil, err
		}
		return FromPack(p, Pack, path), nil
	}
	return fromModule(text, File, path)
}

func unreadable(path string, err error) error {
	return &problem.Error{Code: "POL-FOLDER", What: "cannot be read", Where: path, Err: err, Fix: "let it be readable"}
}

// InFolder returns the policy in a folder, which it builds when its sources
// changed.
func (c *Catalog) InFolder(ctx context.Context, dir string) (*Entry, error) {
	f, err := authoring.Open(dir)
	if err != nil {
		return nil, err
	}
	if policies.Reserved(f.Manifest.Name) {
		return nil, &problem.Error{Code: "POL-NAME", What: f.Manifest.Name + " is a built-in policy", Where: f.Path("policy.json"), Fix: "give yours another name"}
	}
	output, note := c.Output, c.Note
	if output == nil {
		output = io.Discard
	}
	if note == nil {
		note = func(string, ...any) {}
	}
	module, err := f.Module(ctx, term.Writer(output), func() { note("building %s", dir) })
	if err != nil {
		return nil, err
	}
	e, err := fromModule(module, Folder, dir)
	if err != nil {
		return nil, err
	}
	e.Folder = f
	e.Cases, err = f.Cases()
	return e, err
}

// Installed returns the installed pack of that name and SHA-256.
func (c *Catalog) Installed(name, digest string) (*Entry, error) {
	p, err := c.Store.Get(name, digest)
	if err != nil {
		return nil, err
	}
	return FromPack(p, Installed, c.Store.Path(name, digest)), nil
}

// All returns the built-in policies and the installed ones. An installed policy that
// cannot be used is left out: moot policy ls says why.
func (c *Catalog) All(ctx context.Context) ([]*Entry, error) {
	var all []*Entry
	for _, name := range policies.Names() {
		e, err := builtIn(name)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	installed, err := c.Store.List()
	if err != nil {
		return nil, err
	}
	for _, i := range installed {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, err := c.Installed(i.Name, i.SHA256)
		if err != nil || e.CheckName() != nil || e.CheckHost() != nil {
			continue
		}
		e.Use = i.Name
		all = append(all, e)
	}
	return all, nil
}

// installedWith finds the installed pack of a policy whose module has that
// digest.
func (c *Catalog) installedWith(name, digest string) (*Entry, error) {
	all, err := c.Store.List()
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if i.Name != name {
			continue
		}
		e, err := c.Installed(i.Name, i.SHA256)
		if err == nil && e.Manifest.SHA256 == digest {
			e.Use = name
			return e, e.CheckHost()
		}
	}
	return nil, unknown(name)
}

// inLog finds a module of the log by its digest, with or without @NAME.
func (c *Catalog) inLog(ctx context.Context, digest string) (*Entry, error) {
	digest, name, _ := strings.Cut(digest, "@")
	missing := &problem.Error{Code: "POL-MISSING", What: "no policy of that digest was run here", Where: DigestPrefix + digest, Fix: "--data names another data folder"}
	if c.OpenBlobs == nil {
		return nil, missing
	}
	blobs, err := c.OpenBlobs()
	if err != nil {
		return nil, err
	}
	defer blobs.Close()
	module, err := blobs.Blob(ctx, digest)
	if errors.Is(err, log.ErrNotFound) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	return fromLog(module, name, digest)
}

// Names returns the names that a room in dir may use, nil when its moot.lock
// cannot be read: Find then returns the reason.
func Names(dir string) []string {
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

// SettingsSchema returns the JSON Schema of the settings of a policy that a
// room in dir names, nil when it has none. It builds nothing.
func (c *Catalog) SettingsSchema(dir, use string) ([]byte, error) {
	m, err := c.manifest(dir, canonical(dir, use))
	if err != nil || m.ConfigSchema == nil {
		return nil, err
	}
	b, err := json.Marshal(m.ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("reading the settings of %s: %w", use, err)
	}
	return b, nil
}

// manifest returns the manifest of a policy without building it.
func (c *Catalog) manifest(dir, use string) (policy.Manifest, error) {
	if policies.Has(use) {
		return policies.Manifest(use), nil
	}
	if config.IsPath(use) {
		path := within(dir, use)
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			f, err := authoring.Open(path)
			if err != nil {
				return policy.Manifest{}, err
			}
			return f.Manifest, nil
		}
	}
	e, err := c.find(context.Background(), dir, use)
	if err != nil {
		return policy.Manifest{}, err
	}
	return e.Manifest, nil
}
