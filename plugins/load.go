package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/folkmoot/moot/policies/policy"
)

// A Module is a policy to load.
type Module struct {
	Name     string      // what the policy is called; handed to its configure
	Use      string      // how `moot policy run --policy` finds it again, for messages; empty: Name
	Wasm     []byte      // the module
	Digest   string      // SHA-256 that was approved, hex; empty: not checked
	Settings policy.JSON // handed to its configure; nil means {}
	Limits   Limits
	Trusted  bool // built in: it may be compiled in this process

	// AllowFuel lets a module that is not trusted have more than DefFuel, and
	// so hold a processor for longer than 100 ms.
	AllowFuel bool
}

// Load makes a policy ready for decisions. Policies of the same module, name,
// settings and memory share what they can. Every error but ctx's is an
// [*Error] with a load code.
func (h *Host) Load(ctx context.Context, m Module) (*Policy, error) {
	p := &Policy{host: h, name: m.Name, again: againOptions(m), digest: digestOf(m.Wasm), config: digestOf(settingsOrEmpty(m.Settings)), limits: m.Limits.withDefaults()}
	if err := h.admit(p, m); err != nil {
		return nil, err
	}
	key := strings.Join([]string{p.digest, m.Name, p.config, fmt.Sprint(p.limits.MemoryPages, m.Trusted, m.AllowFuel)}, "\x00")
	t, err := h.templates.take(key, func() (*template, error) { return h.template(ctx, key, p, m) })
	for (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) && ctx.Err() == nil { // another caller's, for whom we waited
		t, err = h.templates.take(key, func() (*template, error) { return h.template(ctx, key, p, m) })
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) && ctx.Err() == nil {
			err = &Error{Code: CodeInit, Where: p.name, What: clip(err.Error()), Fix: "report it: this should not happen", Err: err}
		}
		return nil, err
	}
	p.template = t
	return p, nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// admit refuses what is not even looked at.
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
			Code: CodeDigest, Where: p.name, What: "the module has the digest " + p.digest + ", not " + clip(m.Digest),
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

// template makes what the instances of a policy start from.
func (h *Host) template(ctx context.Context, key string, p *Policy, m Module) (*template, error) {
	// A module that somebody trusts is not taken for one that nobody does.
	codeKey, create, fuel := "trusted "+p.digest, h.code, uint64(configureFuel)
	if !m.Trusted {
		codeKey, create, fuel = p.digest, h.outsideCode, p.limits.Fuel
	}
	c, err := h.codes.take(codeKey, func() (*code, error) { return create(ctx, p, m.Wasm) })
	if err != nil {
		return nil, err
	}
	t, err := newTemplate(template{
		key: key, name: p.name, code: c, settings: configureJSON(m.Name, m.Settings),
		most: mostBytes(c.metered, p.limits.MemoryPages), time: timeFor(m),
	}, fuel)
	if err != nil {
		h.dropCode(codeKey, c)
		return nil, err
	}
	t.codeKey = codeKey
	return t, nil
}

// timeFor bounds what a run of a stranger's module takes of the processor.
func timeFor(m Module) time.Duration {
	if m.Trusted || m.AllowFuel {
		return 0
	}
	return strangersTime
}

// configureFuel is what a policy may use to take its settings in.
const configureFuel = MaxFuel

// code checks, initialises and compiles a module.
func (h *Host) code(ctx context.Context, p *Policy, module []byte) (*code, error) {
	metered, err := check(p.name, module)
	if err != nil {
		return nil, err
	}
	c := &code{digest: p.digest, metered: metered, runtime: h.runtime}
	imaged := make(chan error, 1)
	go func() { // beside the compiler: on two cores the sum is as long as the longer
		var err error
		c.base, err = h.initialImage(p.name, p.digest, metered)
		imaged <- err
	}()
	c.compiled, err = compile(ctx, h.runtime, p.name, metered, runtime.GOMAXPROCS(0))
	if e := <-imaged; e != nil {
		err = e // says more
	}
	if err != nil {
		if c.compiled != nil {
			_ = c.compiled.Close(context.Background())
		}
		return nil, err
	}
	metered.Whole, metered.Bare = nil, nil
	return c, nil
}

// initialImage returns the image of an initialised instance, from the cache
// if it is there. A cache that cannot be written to costs time only.
func (h *Host) initialImage(where, digest string, m *wasm.Metered) ([]byte, error) {
	if h.config.CacheDir == "" || !m.Rewindable {
		return initialImage(where, digest, m)
	}
	path := imagePath(h.config.CacheDir, m.Whole)
	if form, err := os.ReadFile(path); err == nil {
		if _, err := readImage(form, len(m.Mutable)); err == nil {
			return form, nil
		}
	}
	form, err := initialImage(where, digest, m) // there is none, or it is damaged
	if err == nil {
		_ = keep(path, form)
	}
	return form, err
}

func (h *Host) dropCode(key string, c *code) {
	if h.codes.release(key) {
		_ = c.compiled.Close(context.Background())
	}
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
