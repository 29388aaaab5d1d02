package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/folkmoot/moot/internal/authoring"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Origins of policies.
const (
	BuiltIn   = "built in"
	Folder    = "folder"
	File      = "file"
	Pack      = "pack"
	Installed = "installed"
	Log       = "log"
	Program   = "program" // in Go, of the program that hosts the rooms; it has no module
)

// An Entry is a policy that was found.
type Entry struct {
	Use      string          // what the user calls it
	Origin   string          // BuiltIn, Folder, File, Pack, Installed, Log or Program
	Where    string          // file or folder; "" when it is built in
	Manifest policy.Manifest // its SHA256 is the module's
	Wasm     []byte          // the module
	Cases    []pack.File     // test cases of a folder or a pack
	Folder   *authoring.Folder
	named    bool // the manifest is the module's own
}

// Module returns what the sandbox loads. allowFuel lets a policy that is not
// built in have as much fuel as its manifest asks for.
func (e *Entry) Module(settings policy.JSON, allowFuel bool) plugins.Module {
	return plugins.Module{
		Name: e.Manifest.Name, Use: e.Use, Wasm: e.Wasm, Digest: e.Manifest.SHA256, Settings: settings,
		Limits:  plugins.Limits{Fuel: e.Manifest.Limits.Fuel, MemoryPages: e.Manifest.Limits.MemoryPages},
		Trusted: e.Origin == BuiltIn, AllowFuel: allowFuel,
	}
}

// Repeatable is Module without a limit of time, so that the speed of the machine
// changes no decision.
func (e *Entry) Repeatable(settings policy.JSON, allowFuel bool) plugins.Module {
	m := e.Module(settings, allowFuel)
	m.FuelOnly = true
	return m
}

// Ref returns what a room's log keeps of the policy.
func (e *Entry) Ref(settings policy.JSON, hints bool) room.PolicyRef {
	m := e.Manifest
	return room.PolicyRef{
		Use: e.Use, Name: m.Name, Version: m.Version, Digest: m.SHA256, Settings: settings, Needs: m.Input, Hints: hints,
	}
}

// Defaults returns the settings that the manifest gives as defaults, nil when
// it gives none.
func (e *Entry) Defaults() policy.JSON {
	j, _ := e.Manifest.DefaultConfig.(policy.JSON)
	return j
}

// CheckDefaults reports default settings that the manifest's own schema
// refuses.
func (e *Entry) CheckDefaults(ctx context.Context) error {
	schema := pack.Settings(e.Manifest)
	if schema == nil {
		return nil
	}
	if err := config.CheckSettings(ctx, schema, e.Defaults()); err != nil {
		return &problem.Error{Code: "POL-MANIFEST", What: "config_schema does not allow default_config: " + err.Error(), Where: e.Where, Fix: "make them agree"}
	}
	return nil
}

// CheckName reports a policy from elsewhere that has the name of a built-in
// one.
func (e *Entry) CheckName() error {
	if !policies.Reserved(e.Manifest.Name) {
		return nil
	}
	return &problem.Error{Code: "POL-NAME", What: e.Manifest.Name + " is a built-in policy", Where: e.Where, Fix: "use the built-in one, or have the author choose another name"}
}

// CheckHost reports a policy that needs a newer moot than this one.
func (e *Entry) CheckHost() error { return e.checkVersion(Version()) }

// checkVersion compares with a version of moot. A build without a version
// counts as the newest.
func (e *Entry) checkVersion(have string) error {
	have = strings.TrimPrefix(have, "v")
	if e.Manifest.MinHost == "" || !pack.ValidVersion(have) || pack.CompareVersions(have, e.Manifest.MinHost) >= 0 {
		return nil
	}
	return &problem.Error{
		Code: "POL-HOST", What: fmt.Sprintf("policy %s wants moot %s or newer; this is %s", e.Manifest.Name, e.Manifest.MinHost, have),
		Where: e.Where, Fix: "use a newer moot, or an older version of the policy",
	}
}

// builtIn returns a built-in policy. It verifies the embedded module.
func builtIn(name string) (*Entry, error) {
	if err := policies.Verify(); err != nil {
		return nil, err
	}
	return &Entry{Use: name, Origin: BuiltIn, Manifest: policies.Manifest(name), Wasm: policies.Module(), named: true}, nil
}

// FromPack returns the policy in a pack.
func FromPack(p *pack.Pack, origin, where string) *Entry {
	return &Entry{Origin: origin, Where: where, Manifest: p.Manifest, Wasm: p.Module, Cases: p.Cases, named: true}
}

// fromModule takes the manifest from the module. A module without a manifest
// is called after its file.
func fromModule(module []byte, origin, where string) (*Entry, error) {
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
	return &Entry{Origin: origin, Where: where, Manifest: m, Wasm: module, named: ok}, nil
}

// modulePath is where a program that embeds rooms gets this module from.
const modulePath = "github.com/folkmoot/moot"

// Version returns the version of this module in the running program, as
// "v1.2.3", or "(devel)" when it has none.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	if info.Main.Path != modulePath {
		for _, dep := range info.Deps {
			if dep.Path == modulePath {
				return dep.Version
			}
		}
	}
	if info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

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
