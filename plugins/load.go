package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/folkmoot/moot/plugins/compile"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/policies/policy"
)

// A Module is a policy to load.
type Module struct {
	Name     string      // of the policy; its configure gets it
	Use      string      // the argument of `moot policy run --policy` that finds it, for messages; empty: Name
	Wasm     []byte      // the module; it must not change
	Digest   string      // SHA-256 that was approved, hex; empty: not checked
	Settings policy.JSON // its configure gets them; nil means {}
	Limits   Limits
	Trusted  bool // built in: it may be compiled in this process

	// AllowFuel lets a module that is not trusted have more than DefFuel, and
	// so use a processor for longer than 100 ms.
	AllowFuel bool

	// FuelOnly lets no decision end by its processor time, so that none depends
	// on the speed of the machine. It is for replays and tests, not for rooms.
	FuelOnly bool
}

// Load makes a policy ready for decisions. Policies of the same module, name,
// settings and memory share what they can. Every error but ctx's is an
// [*Error] with a load code.
func (h *Host) Load(ctx context.Context, m Module) (*Policy, error) {
	p := &Policy{
		host: h, name: m.Name, rerunOptions: rerunOptionsFor(m), digest: h.digest(m),
		config: guest.Digest(settingsOrEmpty(m.Settings)), limits: m.Limits.withDefaults(), timeLimit: cpuTime(m),
	}
	if err := h.admit(p, m); err != nil {
		return nil, err
	}
	// A module is not shared between trusted and third-party policies.
	p.moduleKey = fmt.Sprint(p.digest, m.Trusted)
	p.key = strings.Join([]string{p.digest, m.Name, p.config, fmt.Sprint(p.limits.MemoryPages, p.timeLimit, m.Trusted)}, "\x00")
	for {
		c, err := h.configured.acquire(p.key, func() (*configured, error) { return h.configure(ctx, p, m) })
		otherGone := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		if otherGone && ctx.Err() == nil { // the caller that we waited for gave up
			continue
		}
		if err != nil {
			return nil, loadError(ctx, p, err)
		}
		p.configured = c
		return p, nil
	}
}

// digest returns the digest of a module. That of the last trusted one is kept: every room
// loads the built-in module, which has megabytes.
func (h *Host) digest(m Module) string {
	if !m.Trusted || len(m.Wasm) == 0 {
		return guest.Digest(m.Wasm)
	}
	last := h.trusted.Load()
	if last == nil || len(last.wasm) != len(m.Wasm) || &last.wasm[0] != &m.Wasm[0] {
		last = &digested{m.Wasm, guest.Digest(m.Wasm)}
		h.trusted.Store(last)
	}
	return last.digest
}

// A digested is a module with its digest.
type digested struct {
	wasm   []byte
	digest string
}

// loadError gives every error but ctx's a code.
func loadError(ctx context.Context, p *Policy, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if e, ok := errors.AsType[*Error](err); ok { // it may be joined with that of freeing the module
		return e
	}
	return &Error{Code: CodeInit, Where: p.name, What: guest.Clip(err.Error()), Fix: "report it: this should not happen", Err: err}
}

// admit checks what needs no look into the module.
func (h *Host) admit(p *Policy, m Module) error {
	switch {
	case len(m.Wasm) > MaxModule:
		return &Error{
			Code: CodeLimits, Where: p.name, What: fmt.Sprintf("the module has %d bytes; at most %d", len(m.Wasm), MaxModule),
			Fix: "build it smaller",
		}
	case h.isClosed():
		return &Error{Code: CodeClosed, Where: p.name, What: "the sandbox is closed", Fix: "load policies before closing it"}
	case m.Digest != "" && !strings.EqualFold(m.Digest, p.digest):
		return &Error{
			Code: CodeDigest, Where: p.name, What: "the module has the digest " + p.digest + ", not " + guest.Clip(m.Digest),
			Fix: "get the module that was approved, or approve this one",
		}
	case !m.Trusted && !m.AllowFuel && p.limits.Fuel > DefFuel:
		return &Error{
			Code: CodeLimits, Where: p.name, What: fmt.Sprintf("asks for %d units of fuel; a policy that is not built in may have %d", p.limits.Fuel, DefFuel),
			Fix: "allow it with --allow-fuel: a decision may then take longer than 100 ms",
		}
	case len(m.Settings) > MaxSettings:
		return &Error{
			Code: CodeLimits, Where: p.name, What: fmt.Sprintf("the settings have %d bytes; at most %d", len(m.Settings), MaxSettings),
			Fix: "shorten them",
		}
	}
	return nil
}

// A configured is what policies of the same module and settings share.
type configured struct {
	*pool.Configured
	module *compile.Module
}

// configure prepares a module and configures it.
func (h *Host) configure(ctx context.Context, p *Policy, m Module) (*configured, error) {
	prepare, fuel := h.compiler.Trusted, uint64(MaxFuel)
	if !m.Trusted {
		prepare, fuel = h.compiler.Untrusted, p.limits.Fuel
	}
	if h.config.Preparing != nil {
		defer h.config.Preparing(p.name)()
	}
	module, err := h.modules.acquire(p.moduleKey, func() (*compile.Module, error) { return prepare(ctx, p.name, p.digest, m.Wasm) })
	if err != nil {
		return nil, err
	}
	c, err := pool.Configure(module.Module, pool.Spec{
		Name: p.name, Settings: configureJSON(m.Name, m.Settings), Pages: p.limits.MemoryPages, Fuel: fuel, CPUTime: p.timeLimit,
	})
	if err != nil {
		h.releaseModule(p.moduleKey, module)
		return nil, err
	}
	return &configured{c, module}, nil
}

// cpuTime is the processor time of one run; 0 is unlimited.
func cpuTime(m Module) time.Duration {
	if m.Trusted || m.AllowFuel || m.FuelOnly {
		return 0
	}
	return pool.UntrustedTime
}

// release frees what a policy uses, unless other policies use it too.
func (h *Host) release(p *Policy) {
	if !h.configured.release(p.key) {
		return
	}
	h.pool.Drop(p.configured.Configured)
	p.configured.Close()
	h.releaseModule(p.moduleKey, p.configured.module)
}

func (h *Host) releaseModule(key string, m *compile.Module) {
	if h.modules.release(key) {
		_ = m.Close()
	}
}

func settingsOrEmpty(s policy.JSON) policy.JSON {
	if len(s) == 0 {
		return policy.JSON("{}")
	}
	return s
}

// configureJSON returns the argument of a module's configure.
func configureJSON(name string, settings policy.JSON) []byte {
	quoted, _ := json.Marshal(name) // a string cannot fail
	b := append([]byte(`{"policy":`), quoted...)
	b = append(b, `,"settings":`...)
	b = append(b, settingsOrEmpty(settings)...)
	return append(b, '}')
}
