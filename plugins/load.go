package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/tetratelabs/wazero"
)

// A Module is a policy to load.
type Module struct {
	Name     string      // what the policy is called; handed to its configure
	Wasm     []byte      // the module
	Digest   string      // SHA-256 that was approved, hex; empty: not checked
	Settings policy.JSON // handed to its configure; nil means {}
	Limits   Limits
	Trusted  bool // built in: it may be compiled in this process
}

// Load makes a policy ready for decisions. Every error is an [*Error] with a
// load code.
func (h *Host) Load(ctx context.Context, m Module) (*Policy, error) {
	sum := sha256.Sum256(m.Wasm)
	p := &Policy{
		host: h, name: m.Name, digest: hex.EncodeToString(sum[:]), limits: m.Limits.withDefaults(),
		settings: configureJSON(m.Name, m.Settings),
	}
	configDigest := sha256.Sum256(settingsOrEmpty(m.Settings))
	p.config = hex.EncodeToString(configDigest[:])
	if err := p.admit(m); err != nil {
		return nil, err
	}
	if err := p.compile(ctx, m.Wasm); err != nil {
		return nil, err
	}
	return p, p.tryOut(ctx)
}

// admit refuses what is not even looked at.
func (p *Policy) admit(m Module) error {
	switch {
	case m.Digest != "" && m.Digest != p.digest:
		return &Error{
			Code: CodeDigest, Where: p.name, What: "the module has the digest " + p.digest + ", not " + m.Digest,
			Fix: "get the module that was approved, or approve this one",
		}
	case !m.Trusted:
		return &Error{
			Code: CodeUntrusted, Where: p.name, What: "only built-in policies can be loaded",
			Fix: "use a built-in policy",
		}
	case len(m.Wasm) > MaxModule:
		return &Error{
			Code: CodeLimits, Where: p.name, What: fmt.Sprintf("the module has %d bytes; at most %d", len(m.Wasm), MaxModule),
			Fix: "build it smaller",
		}
	case len(m.Settings) > MaxSettings:
		return &Error{
			Code: CodeLimits, Where: p.name, What: fmt.Sprintf("the settings have %d bytes; at most %d", len(m.Settings), MaxSettings),
			Fix: "shorten them",
		}
	}
	return nil
}

func (p *Policy) compile(ctx context.Context, wasm []byte) error {
	code, err := p.host.runtime.CompileModule(ctx, wasm)
	if err != nil {
		return &Error{Code: CodeMalformed, Where: p.name, What: "not a valid module: " + firstLine(err.Error()), Fix: "build it again", Err: err}
	}
	p.code = code
	if err := checkImports(p.name, code); err != nil {
		return err
	}
	return checkABI(p.name, code)
}

func checkImports(where string, code wazero.CompiledModule) error {
	for _, f := range code.ImportedFunctions() {
		module, name, _ := f.Import()
		if err := checkImport(where, module, name, f.ParamTypes(), f.ResultTypes()); err != nil {
			return err
		}
	}
	return nil
}

// tryOut sets one instance up, so that what fails then fails at load.
func (p *Policy) tryOut(ctx context.Context) error {
	in, err := p.fresh(ctx)
	if err != nil {
		return err
	}
	in.close()
	return nil
}

// fresh returns an instance that is set up.
func (p *Policy) fresh(ctx context.Context) (*instance, error) {
	w := &world{environ: initEnviron}
	w.begin(0, p.digest)
	in, err := newInstance(context.WithoutCancel(ctx), p.host.runtime, p.code, w)
	if err == nil {
		if err = in.setUp(p.settings); err == nil {
			w.environ = nil
			return in, nil
		}
		in.close()
	}
	e := runError(p.name, err)
	e.Code, e.Fix = CodeInit, "the policy's author has to mend it"
	if errors.Is(err, errRefusedSettings) {
		e.Code, e.What, e.Fix = CodeConfigure, errRefusedSettings.Error(), "mend the settings"
	}
	if log := w.logged(); log != "" {
		e.What += ": " + firstLine(log)
	}
	return nil, e
}

func settingsOrEmpty(s policy.JSON) policy.JSON {
	if len(s) == 0 {
		return policy.JSON("{}")
	}
	return s
}

// configureJSON is what configure gets.
func configureJSON(name string, settings policy.JSON) []byte {
	quoted, _ := json.Marshal(name) // a string cannot fail
	b := append([]byte(`{"policy":`), quoted...)
	b = append(b, `,"settings":`...)
	b = append(b, settingsOrEmpty(settings)...)
	return append(b, '}')
}
