package replay_test

import (
	"os"
	"path/filepath"
	"syscall"
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
	host, err := plugins.NewHost(plugins.Config{CacheDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer host.Close()
	subjects := []struct {
		name string
		load func(name string) replay.Subject
	}{
		{"none", func(name string) replay.Subject { return replay.Subject{Name: name, Baseline: "address->ngram3"} }},
		{"c", func(name string) replay.Subject { return kit(b, host, name) }},
		{"rust", func(name string) replay.Subject { return kit(b, host, name) }},
		{"assemblyscript", func(name string) replay.Subject { return kit(b, host, name) }},
		{"roundrobin", func(name string) replay.Subject { return builtIn(b, host, name) }},
		{"mention", func(name string) replay.Subject { return builtIn(b, host, name) }},
		{"adaptive", func(name string) replay.Subject { return builtIn(b, host, name) }},
	}
	loaded := map[string]replay.Subject{} // only what is to run is compiled
	for _, set := range []string{"whowhen", "delidata", "irc-threads", "meetings-ami", "meetings-committee", "space-short", "llmafia", "long-space"} {
		file := filepath.Join("..", "..", "shared", "transcripts", set+".jsonl.gz")
		if _, err := os.Stat(file); err != nil {
			b.Skip("the shared transcripts are not beside this checkout")
		}
		for _, s := range subjects {
			b.Run(set+"/"+s.name, func(b *testing.B) {
				if _, ok := loaded[s.name]; !ok {
					loaded[s.name] = s.load(s.name)
				}
				b.ResetTimer()
				whatIf(b, loaded[s.name], file)
			})
		}
	}
}

func whatIf(b *testing.B, s replay.Subject, file string) {
	decisions, start := 0, processTime(b)
	for b.Loop() {
		r, err := replay.Run(b.Context(), replay.Config{Subjects: []replay.Subject{s}}, conversations(file))
		if err != nil {
			b.Fatal(err)
		}
		decisions += r.Decisions
	}
	b.ReportMetric(float64(decisions)/b.Elapsed().Seconds(), "decisions/s")
	b.ReportMetric(float64(processTime(b)-start)/float64(decisions)/1e3, "cpu-us/decision")
}

// processTime is the processor time that the process has used, in
// nanoseconds.
func processTime(tb testing.TB) int64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
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
