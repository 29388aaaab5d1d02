package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// Where a policy may come from.
const (
	originBuiltIn   = "built in"
	originFolder    = "folder"
	originFile      = "file"
	originPack      = "pack"
	originInstalled = "installed"
	originLog       = "log"
)

// A supply is a policy that was found by what a user calls it.
type supply struct {
	Use      string // what the user calls it
	Origin   string
	Where    string          // file or folder; "" when built in
	Manifest policy.Manifest // SHA256 is the module's
	Module   []byte
	Cases    []pack.File
	folder   *authoring.Folder // of a folder
	named    bool              // the manifest is the module's own
}

// module is what the sandbox loads.
func (a *app) module(s *supply, settings policy.JSON) plugins.Module {
	return plugins.Module{
		Name: s.Manifest.Name, Use: s.Use, Wasm: s.Module, Digest: s.Manifest.SHA256, Settings: settings,
		Limits:  plugins.Limits{Fuel: s.Manifest.Limits.Fuel, MemoryPages: s.Manifest.Limits.MemoryPages},
		Trusted: s.Origin == originBuiltIn, AllowFuel: a.allowFuel,
	}
}

// ref is what a room's log keeps of the policy.
func (s *supply) ref(settings policy.JSON, hints bool) room.PolicyRef {
	m := s.Manifest
	return room.PolicyRef{
		Use: s.Use, Name: m.Name, Version: m.Version, Digest: m.SHA256, Settings: settings, Needs: m.Input, Hints: hints,
	}
}

// findPolicy finds a policy as room.yaml names it: a built-in one, a path
// relative to dir, one that dir's moot.lock pins, or sha256: and a digest of
// the log. A folder is built when its sources changed.
func (a *app) findPolicy(ctx context.Context, dir, use string) (*supply, error) {
	s, err := a.find(ctx, dir, use)
	if err != nil {
		return nil, err
	}
	s.Use = use
	return s, s.checkHost()
}

func (a *app) find(ctx context.Context, dir, use string) (*supply, error) {
	if policies.Has(use) {
		if err := policies.Verify(); err != nil {
			return nil, err
		}
		return &supply{Origin: originBuiltIn, Manifest: policies.Manifest(use), Module: policies.Module(), named: true}, nil
	}
	if digest, ok := strings.CutPrefix(use, digestPrefix); ok {
		return a.policyOfLog(ctx, digest)
	}
	if config.IsPath(use) {
		path := use
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return a.policyAt(ctx, path)
	}
	lock, err := pack.ReadLock(dir)
	if err != nil {
		return nil, err
	}
	e := lock.Find(use)
	if e == nil {
		return nil, noPolicy(use)
	}
	return a.policyOfStore(e.Name, e.SHA256)
}

// namedPolicy finds a policy as an argument names it: also a folder or file
// without ./ before it, and a pack.
func (a *app) namedPolicy(ctx context.Context, arg string) (*supply, error) {
	s, err := a.findPolicy(ctx, ".", arg)
	var p *problem.Error
	if errors.As(err, &p) && p.Code == codeNoPolicy && !config.IsPath(arg) {
		if _, serr := os.Stat(arg); serr == nil {
			return a.findPolicy(ctx, ".", "./"+arg)
		}
	}
	return s, err
}

// policyAt reads a policy's folder, module or pack.
func (a *app) policyAt(ctx context.Context, path string) (*supply, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &problem.Error{Code: codeNoPolicy, What: "there is no policy", Where: path, Fix: "name a policy's folder, a .wasm file or a name; `moot policy ls` lists the names"}
	case err != nil:
		return nil, &problem.Error{Code: "POL-FOLDER", What: "cannot be read", Where: path, Err: err, Fix: "let it be readable"}
	case st.IsDir():
		return a.policyOfFolder(ctx, path)
	case st.Size() > plugins.MaxModule:
		return nil, &plugins.Error{Code: plugins.CodeLimits, Where: path, What: fmt.Sprintf("the file has %d bytes; at most %d", st.Size(), plugins.MaxModule), Fix: "build it smaller"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &problem.Error{Code: "POL-FOLDER", What: "cannot be read", Where: path, Err: err, Fix: "let it be readable"}
	}
	if strings.HasSuffix(path, pack.Extension) {
		p, err := pack.Read(path, text)
		if err != nil {
			return nil, err
		}
		return ofPack(p, originPack, path), nil
	}
	return ofModule(text, originFile, path)
}

// policyOfFolder builds a folder when its sources changed.
func (a *app) policyOfFolder(ctx context.Context, dir string) (*supply, error) {
	f, err := authoring.Open(dir)
	if err != nil {
		return nil, err
	}
	if policies.Has(f.Manifest.Name) {
		return nil, &problem.Error{Code: "POL-NAME", What: f.Manifest.Name + " is a built-in policy", Where: f.Path("policy.json"), Fix: "give yours another name"}
	}
	module, err := f.Module(ctx, stripped{a.stderr}, func() { a.note("building %s", dir) })
	if err != nil {
		return nil, err
	}
	s, err := ofModule(module, originFolder, dir)
	if err != nil {
		return nil, err
	}
	s.folder = f
	s.Cases, err = f.Cases()
	return s, err
}

func (a *app) store() pack.Store { return pack.NewStore(filepath.Join(a.settings.Data, "policies")) }

func (a *app) policyOfStore(name, digest string) (*supply, error) {
	p, err := a.store().Get(name, digest)
	if err != nil {
		return nil, err
	}
	return ofPack(p, originInstalled, a.store().Path(name, digest)), nil
}

func ofPack(p *pack.Pack, origin, where string) *supply {
	return &supply{Origin: origin, Where: where, Manifest: p.Manifest, Module: p.Module, Cases: p.Cases, named: true}
}

// ofModule takes the manifest from the module; one without is called after
// its file.
func ofModule(module []byte, origin, where string) (*supply, error) {
	m, ok, err := pack.ManifestOf(where, module)
	if err != nil {
		return nil, err
	}
	if !ok {
		name := strings.ToLower(strings.TrimSuffix(filepath.Base(where), ".wasm"))
		if !pack.ValidName(name) {
			name = "unnamed"
		}
		m = policy.Manifest{Name: name, Version: "0.0.0", ABI: policy.ABI}
	}
	m.SHA256 = pack.Digest(module)
	return &supply{Origin: origin, Where: where, Manifest: m, Module: module, named: ok}, nil
}

// checkHost refuses a policy that wants a newer moot than this one.
func (s *supply) checkHost() error { return s.checkVersion(thisBuild().Version) }

// checkVersion compares with a moot's version. A build without one is as new
// as can be.
func (s *supply) checkVersion(have string) error {
	have = strings.TrimPrefix(have, "v")
	if s.Manifest.MinHost == "" || !pack.ValidVersion(have) || pack.CompareVersions(have, s.Manifest.MinHost) >= 0 {
		return nil
	}
	return &problem.Error{
		Code: "POL-HOST", What: fmt.Sprintf("policy %s wants moot %s or newer; this is %s", s.Manifest.Name, s.Manifest.MinHost, have),
		Where: s.Where, Fix: "use a newer moot, or an older version of the policy",
	}
}

// pinnedPolicy finds the policy of a room.yaml in dir. With a digest any other
// module is refused, and an installed policy needs no lock.
func (a *app) pinnedPolicy(ctx context.Context, dir, use, digest string) (*supply, error) {
	s, err := a.findPolicy(ctx, dir, use)
	var p *problem.Error
	if digest != "" && errors.As(err, &p) && p.Code == codeNoPolicy && pack.ValidName(use) {
		s, err = a.installedWith(use, digest)
	}
	if err != nil || digest == "" || s.Manifest.SHA256 == digest {
		return s, err
	}
	return nil, &plugins.Error{
		Code: plugins.CodeDigest, Where: "policy " + use, What: "the module has the digest " + s.Manifest.SHA256 + "; room.yaml wants " + digest,
		Fix: "get the module that was approved, or approve this one: change policy.sha256",
	}
}

// installedWith finds the installed pack of a policy whose module has that
// digest.
func (a *app) installedWith(name, digest string) (*supply, error) {
	all, err := a.store().List()
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if i.Name != name {
			continue
		}
		s, err := a.policyOfStore(i.Name, i.SHA256)
		if err == nil && s.Manifest.SHA256 == digest {
			s.Use = name
			return s, s.checkHost()
		}
	}
	return nil, noPolicy(name)
}

// folderManifest reads the manifest of a policy's folder; ok is false where
// path is no folder.
func folderManifest(path string) (m policy.Manifest, ok bool, err error) {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return m, false, nil
	}
	f, err := authoring.Open(path)
	if err != nil {
		return m, true, err
	}
	return f.Manifest, true, nil
}

// stripped makes what a compiler says safe to show. It is written to once.
type stripped struct{ w io.Writer }

func (s stripped) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, term.Strip(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// fuelFlag gives a command the flag that a policy with a large appetite needs.
func (a *app) fuelFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.allowFuel, "allow-fuel", false, "let a policy that is not built in have as much fuel as its manifest asks for, so that a decision may take longer than 100 ms")
}
