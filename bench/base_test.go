package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// baseCommit is the release that a replay is compared with, unless MOOT_BASE names another
// commit of this repository.
const baseCommit = "3f4c90a"

// BenchmarkReplayBase replays a set with this moot and with that of an older commit, in
// turn on the same machine, and reports the decisions a second, the processor time of a
// decision, and how many decisions in a second of processor time this one makes for
// each of the older one.
func BenchmarkReplayBase(b *testing.B) {
	set, err := filepath.Abs(filepath.Join("..", "..", "shared", "transcripts", "meetings-ami.jsonl.gz"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(set); err != nil {
		b.Skip("the shared transcripts are not next to this checkout")
	}
	base := os.Getenv("MOOT_BASE")
	if base == "" {
		base = baseCommit
	}
	older := b.TempDir()
	tree := exec.Command("sh", "-c", `git -C .. archive "$1" | tar x -C "$2"`, "sh", base, older)
	if out, err := tree.CombinedOutput(); err != nil || !exists(filepath.Join(older, "go.mod")) {
		b.Skipf("commit %s is not in this clone: %v %s", base, err, out)
	}
	ours, theirs := builtMoot(b, ".."), builtMoot(b, older)
	guests := filepath.Join("..", "policies", "policytest", "testdata", "guests")
	for name, policies := range map[string][2]string{
		"c":          {filepath.Join(guests, "c.wasm"), filepath.Join(older, "policies", "policytest", "testdata", "guests", "c.wasm")},
		"rust":       {filepath.Join(guests, "rust.wasm"), filepath.Join(older, "policies", "policytest", "testdata", "guests", "rust.wasm")},
		"roundrobin": {"roundrobin", "roundrobin"},
		"adaptive":   {"adaptive", "adaptive"},
	} {
		b.Run(name, func(b *testing.B) {
			now, before := replayed{data: b.TempDir()}, replayed{data: b.TempDir()}
			now.add(b, ours, set, policies[0]) // compiles the policy
			before.add(b, theirs, set, policies[1])
			now, before = replayed{data: now.data}, replayed{data: before.data}
			for b.Loop() {
				now.add(b, ours, set, policies[0])
				before.add(b, theirs, set, policies[1])
			}
			b.ReportMetric(now.decisions/now.seconds, "decisions/s")
			b.ReportMetric(before.decisions/before.seconds, "base-decisions/s")
			b.ReportMetric(now.cpu/now.decisions*1e6, "cpu-us/decision")
			b.ReportMetric(before.cpu/before.decisions*1e6, "base-cpu-us/decision")
			b.ReportMetric(before.cpu/now.cpu*now.decisions/before.decisions, "times-base")
		})
	}
}

// replayed adds up runs of one moot.
type replayed struct {
	data                    string // its data folder, with the compiled policy
	decisions, seconds, cpu float64
}

func (r *replayed) add(b *testing.B, moot, set, policy string) {
	b.Helper()
	cmd := exec.Command(moot, "replay", set, "--policy", policy, "-q", "-o", "json", "--data", r.data)
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", moot, err)
	}
	var report struct{ Decisions, Seconds float64 }
	if err := json.Unmarshal(out, &report); err != nil {
		b.Fatal(err)
	}
	r.decisions += report.Decisions
	r.seconds += report.Seconds
	r.cpu += cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// builtMoot builds the command of a source tree.
func builtMoot(b *testing.B, tree string) string {
	b.Helper()
	moot := filepath.Join(b.TempDir(), "moot")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", moot, "./cmd/moot")
	build.Dir = tree
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building moot: %v\n%s", err, out)
	}
	return moot
}
