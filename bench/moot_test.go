package bench

import (
	"context"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
)

// moot is our sandbox: every decision is fresh, isolated and metered.
func moot(name, path string) subject {
	return subject{"moot-fresh/" + name, func(tb testing.TB) func(testing.TB) call {
		h := host(tb, plugins.Config{CacheDir: scratch(tb, "moot")})
		p := load(tb, h, plugins.Module{Name: "polite", Wasm: wasm(tb, path), Trusted: true})
		in := room()
		input := in.AppendJSON(nil)
		return func(testing.TB) call {
			return func(ctx context.Context) ([]byte, error) {
				r, err := p.Run(ctx, input)
				return r.Output, err
			}
		}
	}}
}

func host(tb testing.TB, c plugins.Config) *plugins.Host {
	tb.Helper()
	h, err := plugins.NewHost(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Error(err)
		}
	})
	return h
}

func load(tb testing.TB, h *plugins.Host, m plugins.Module) *plugins.Policy {
	tb.Helper()
	p, err := h.Load(context.Background(), m)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkSettings is a decision of a policy that was configured with a table
// of one entry, and with one of 1 MiB.
func BenchmarkSettings(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"one-entry", 0}, {"1MiB", plugins.MaxSettings}} {
		b.Run(c.name, func(b *testing.B) {
			h := host(b, plugins.Config{CacheDir: scratch(b, "moot")})
			p := load(b, h, plugins.Module{
				Name: "table", Wasm: wasm(b, "go:"+guestsHere+"table"), Settings: table(c.size), Trusted: true,
			})
			in := room()
			input := in.AppendJSON(nil)
			ctx := context.Background()
			start := processTime(b)
			for b.Loop() {
				if _, err := p.Run(ctx, input); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processTime(b)-start)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}

// table is settings of that many bytes, less than one entry, or of one entry.
func table(size int) policy.JSON {
	const open, entry, end = `{"weights":[500`, `,417`, `]}`
	n := max(0, size-len(open)-len(end)) / len(entry)
	return policy.JSON(open + strings.Repeat(entry, n) + end)
}
