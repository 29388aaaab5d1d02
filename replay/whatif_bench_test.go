package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// BenchmarkWhatIf is a whole what-if as `moot replay` makes it, from the
// compressed file to the report, with one policy in the sandbox.
func BenchmarkWhatIf(b *testing.B) {
	file := filepath.Join("..", "..", "shared", "transcripts", "irc-threads.jsonl.gz")
	if _, err := os.Stat(file); err != nil {
		b.Skip("the shared transcripts are not beside this checkout")
	}
	host, err := plugins.NewHost(plugins.Config{CacheDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer host.Close()
	for _, s := range []replay.Subject{builtIn(b, host, "roundrobin"), builtIn(b, host, "adaptive"), kit(b, host, "c"), kit(b, host, "rust")} {
		b.Run(s.Name, func(b *testing.B) {
			decisions := 0
			for b.Loop() {
				r, err := replay.Run(b.Context(), replay.Config{Subjects: []replay.Subject{s}}, conversations(file))
				if err != nil {
					b.Fatal(err)
				}
				decisions += r.Decisions
			}
			b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}

func builtIn(tb testing.TB, host *plugins.Host, name string) replay.Subject {
	tb.Helper()
	p, err := host.Load(tb.Context(), plugins.Module{Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return replay.Subject{
		Name: name, Policy: p, Ref: room.PolicyRef{Use: name, Name: name, Digest: p.Digest(), Needs: policies.Manifest(name).Input},
	}
}

// kit is the kits' policy in a language other than Go.
func kit(tb testing.TB, host *plugins.Host, language string) replay.Subject {
	tb.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "policies", "policytest", "testdata", "guests", language+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	p, err := host.Load(tb.Context(), plugins.Module{Name: "kit", Wasm: wasm, Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return replay.Subject{Name: language, Policy: p, Ref: room.PolicyRef{Use: language, Name: language, Digest: p.Digest()}}
}

// conversations yields the talks of a file of the neutral form.
func conversations(file string) func(func(replay.Transcript, error) bool) {
	return func(yield func(replay.Transcript, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(replay.Transcript{}, err)
			return
		}
		defer f.Close()
		for c, err := range transcripts.ReadConversations(f, file) {
			if !yield(transcriptOf(c), err) || err != nil {
				return
			}
		}
	}
}
