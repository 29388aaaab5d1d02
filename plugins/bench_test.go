package plugins

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/folkmoot/moot/policies/policy"
)

// oneKiB is an input of about 1 KiB.
func oneKiB() policy.Input {
	in := roster
	in.Objective = "agree on the migration"
	in.Events = nil
	for i := range 3 {
		in.Events = append(in.Events, policy.Event{
			Seq: int64(i + 1), Turn: i, From: "a", Kind: policy.KindMessage,
			Text: strings.Repeat("lock time and rollback ", 5), Bytes: 115,
		})
	}
	return in
}

func loadBuiltin(tb testing.TB, h *Host, name string) *Policy {
	tb.Helper()
	p, err := h.Load(context.Background(), Module{Name: name, Wasm: builtins(tb), Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func benchRun(b *testing.B, p *Policy, input []byte) {
	b.Helper()
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	var fuel uint64
	for b.Loop() {
		r, err := p.run(ctx, call{room: "r_01", nowMS: 1000, seed: "9f3c", input: input})
		if err != nil {
			b.Fatal(err)
		}
		fuel = r.Fuel
	}
	b.ReportMetric(float64(fuel), "fuel/op")
}

// BenchmarkDecision is one fresh, isolated, fuelled decision on an input of
// 1 KiB, putting the instance back included.
func BenchmarkDecision(b *testing.B) {
	in := oneKiB()
	input := in.AppendJSON(nil)
	b.Run("go-builtin", func(b *testing.B) {
		benchRun(b, loadBuiltin(b, newHost(b, Config{CacheDir: os.TempDir() + "/moot-bench"}), "roundrobin"), input)
	})
	b.Run("constant", func(b *testing.B) {
		benchRun(b, load(b, newHost(b, Config{}), wasmtest.Answering(`{"action":"decline","reason":"x"}`)), input)
	})
}

// BenchmarkLoad is what a program pays before its first decision.
func BenchmarkLoad(b *testing.B) {
	builtins(b)
	for name, warm := range map[string]bool{"cold": false, "warm": true} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if warm {
				h := newHost(b, Config{CacheDir: dir})
				loadBuiltin(b, h, "roundrobin")
			}
			for b.Loop() {
				if !warm {
					dir = b.TempDir()
				}
				h, err := NewHost(Config{CacheDir: dir})
				if err != nil {
					b.Fatal(err)
				}
				loadBuiltin(b, h, "roundrobin")
				h.Close()
			}
		})
	}
}
