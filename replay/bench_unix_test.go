//go:build unix

package replay_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/room"
)

// BenchmarkReplay replays a whole set with one policy in the sandbox.
func BenchmarkReplay(b *testing.B) {
	for b.Loop() {
		r := replayShared(b, "whowhen", "roundrobin")
		b.ReportMetric(float64(r.Decisions)/r.Seconds, "decisions/s")
	}
}

// BenchmarkWhatIf is a what-if as `moot replay` does it, from the compressed
// file to the report, with one policy.
func BenchmarkWhatIf(b *testing.B) {
	host, err := plugins.NewHost(plugins.Config{CacheDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer host.Close()
	policies := []struct {
		name string
		load func(name string) drive.Policy
	}{
		{"none", func(name string) drive.Policy { return drive.Policy{Name: name, Baseline: "address->ngram3"} }},
		{"c", func(name string) drive.Policy { return template(b, host, name) }},
		{"rust", func(name string) drive.Policy { return template(b, host, name) }},
		{"assemblyscript", func(name string) drive.Policy { return template(b, host, name) }},
		{"roundrobin", func(name string) drive.Policy { return builtIn(b, host, name) }},
		{"mention", func(name string) drive.Policy { return builtIn(b, host, name) }},
		{"adaptive", func(name string) drive.Policy { return builtIn(b, host, name) }},
	}
	loaded := map[string]drive.Policy{} // compiled when first needed
	for _, set := range []string{"whowhen", "delidata", "irc-threads", "meetings-ami", "meetings-committee", "space-short", "llmafia", "long-space"} {
		for _, p := range policies {
			b.Run(set+"/"+p.name, func(b *testing.B) {
				if _, ok := loaded[p.name]; !ok {
					loaded[p.name] = p.load(p.name)
				}
				b.ResetTimer()
				benchmarkWhatIf(b, loaded[p.name], set)
			})
		}
	}
}

func benchmarkWhatIf(b *testing.B, p drive.Policy, set string) {
	decisions, start := 0, processTime(b)
	for b.Loop() {
		r, err := replay.Run(b.Context(), replay.Config{Policies: []drive.Policy{p}}, sharedSet(b, set))
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

// template loads the policy of the templates in a language other than Go.
func template(tb testing.TB, host *plugins.Host, language string) drive.Policy {
	tb.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "policies", "policytest", "testdata", "guests", language+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	p, err := host.Load(tb.Context(), plugins.Module{Name: "template", Wasm: wasm, Trusted: true})
	if err != nil {
		tb.Fatal(err)
	}
	return drive.Policy{Name: language, Proposer: p, Ref: room.PolicyRef{Use: language, Name: language, Digest: p.Digest()}}
}
