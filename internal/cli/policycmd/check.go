package policycmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
)

// newPolicyCheckCmd tells whether a policy can be used.
func newPolicyCheckCmd(a *commands) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [POLICY]",
		Short: "Tell whether a policy can be used: imports, limits, sizes, compile times, fuel",
		Long: "check loads a policy as a room would, twice: into an empty cache and from it. It\n" +
			"says what the module imports, what its bounds are and how much of them an empty\n" +
			"input takes. A policy that is refused ends it with 3 and the code of the\n" +
			"refusal, one that fails on the empty input with 7. POLICY is a name, a policy's folder, a .wasm file or a pack; by default\n" +
			"the folder it is in.",
		Example:           "  moot policy check\n  moot policy check stranger.wasm -o json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: app.CompletePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Catalog().Named(cmd.Context(), append(args, ".")[0])
			if err != nil {
				return err
			}
			c, err := a.checkPolicy(cmd.Context(), s)
			if err != nil {
				return err
			}
			if err := a.Emit(c, c.print); err != nil {
				return err
			}
			return c.failure
		},
	}
	a.FuelFlag(cmd)
	return cmd
}

// A checked is a policy that may be used.
type checked struct {
	Policy string  `json:"policy"`
	SHA256 string  `json:"sha256"`
	Module anatomy `json:"module"`
	Limits limits  `json:"limits"`
	First  float64 `json:"cold_ms"`   // to load it for the first time
	Cached float64 `json:"cached_ms"` // to load it again
	Engine string  `json:"engine"`
	Empty  spent   `json:"empty_input"`
	Schema bool    `json:"settings_schema"` // the manifest has one, and the defaults pass it

	failure error // of the empty input
}

// limits are what bounds a policy's decision.
type limits struct {
	Fuel        uint64 `json:"fuel"`
	MemoryPages uint32 `json:"memory_pages"`
}

// limitsOf fills in the defaults.
func limitsOf(m policy.ManifestLimits) limits {
	return limits{cmp.Or(m.Fuel, plugins.DefFuel), cmp.Or(m.MemoryPages, plugins.DefMemoryPages)}
}

// A spent is what one decision took.
type spent struct {
	Action string `json:"action,omitempty"`
	Error  string `json:"error,omitempty"` // code, when it failed
	Fuel   uint64 `json:"fuel"`
	Memory int    `json:"memory_bytes"`
}

func (a *commands) checkPolicy(ctx context.Context, s *catalog.Entry) (*checked, error) {
	c := &checked{Policy: s.Manifest.Name, SHA256: s.Manifest.SHA256, Limits: limitsOf(s.Manifest.Limits)}
	cache, err := os.MkdirTemp("", "moot-check-")
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	defer os.RemoveAll(cache)
	if c.First, err = a.loadTime(ctx, s, cache, nil); err != nil {
		return nil, err
	}
	if c.Cached, err = a.loadTime(ctx, s, cache, func(h *plugins.Host, p *plugins.Policy) {
		c.Engine = h.Engine()
		c.Empty, c.failure = tryEmpty(ctx, p)
	}); err != nil {
		return nil, err
	}
	if c.Module, err = anatomyOf(s.Wasm); err != nil {
		return nil, err
	}
	c.Schema = s.Manifest.ConfigSchema != nil
	return c, s.CheckDefaults(ctx)
}

// loadTime loads the policy in a host of its own and returns how many
// milliseconds that took. An empty cache names that of the settings.
func (a *commands) loadTime(ctx context.Context, s *catalog.Entry, cache string, then func(*plugins.Host, *plugins.Policy)) (float64, error) {
	h, err := a.Wiring().Sandbox(plugins.Config{CacheDir: cache})
	if err != nil {
		return 0, err
	}
	defer h.Close()
	start := time.Now()
	p, err := h.Load(ctx, s.Module(s.Defaults(), a.AllowFuel))
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	if then != nil {
		then(h, p)
	}
	return float64(took.Microseconds()) / 1000, nil
}

// tryEmpty asks the policy about a room with nobody in it.
func tryEmpty(ctx context.Context, p *plugins.Policy) (spent, error) {
	in := policy.Input{ABI: policy.ABI, Init: true, Room: "check", Decision: 1, Turn: 1, Seed: "00"}
	d, r, err := p.Decide(ctx, in.AppendJSON(nil))
	out := spent{Action: d.Action, Fuel: r.Fuel, Memory: r.Memory}
	if err != nil {
		out.Error = app.ReportOf(err).Code
	}
	return out, err
}

func (c *checked) print(w io.Writer) error {
	empty := cmp.Or(c.Empty.Error, c.Empty.Action)
	rows := [][]string{
		{"module", fmt.Sprintf("%d bytes of at most %d", c.Module.Bytes, plugins.MaxModule)},
		{"imports", orNone(c.Module.Imports)},
		{"memory", fmt.Sprintf("starts with %d pages, may have %d", c.Module.Pages, c.Limits.MemoryPages)},
		{"fuel", fmt.Sprintf("%d a decision", c.Limits.Fuel)},
		{"loading", fmt.Sprintf("%.0f ms the first time, %.0f ms from the cache, %s", c.First, c.Cached, c.Engine)},
		{"empty input", fmt.Sprintf("%s; %d units of fuel, %d KiB of memory", empty, c.Empty.Fuel, c.Empty.Memory>>10)},
	}
	if err := app.Table(w, []string{"policy", c.Policy + ", sha256 " + c.SHA256}, rows); err != nil || c.failure != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "ok")
	return err
}
