package replay_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/transcripts"
)

// keptTalks are the conversations of the repository.
var keptTalks = []string{"../examples/transcripts/talks.jsonl", "../examples/transcripts/runs.jsonl", "testdata/extract.jsonl"}

// A digester passes decisions on, and hashes each with its input, its fuel and its error.
type digester struct {
	drive.Proposer
	mu  *sync.Mutex
	sum hash.Hash
	n   *int
}

func (d digester) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	decision, rec, err := d.Proposer.Propose(ctx, in)
	d.mu.Lock()
	defer d.mu.Unlock()
	*d.n++
	fmt.Fprintf(d.sum, "%s %q %d %q %v\n", rec.Input, decision.AppendJSON(nil), rec.Fuel, rec.Log, err)
	return decision, rec, err
}

// engine makes a host that runs policies by the compiler or by the interpreter.
func engine(t *testing.T, interpreter bool) *plugins.Host {
	t.Helper()
	host, err := plugins.NewHost(plugins.Config{Interpreter: interpreter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

// decisionsOf returns a line for each built-in policy: how often it was asked, twice for
// each decision, and the digest of its answers. A refusal is an answer too.
func decisionsOf(t *testing.T, host *plugins.Host, sample int, talks iter.Seq2[history.Transcript, error]) string {
	t.Helper()
	c := replay.Config{Workers: 1, Resamples: 1, Repeat: 1, Sample: sample}
	var asked []digester
	for _, name := range policies.Names() {
		p := builtIn(t, host, name)
		d := digester{p.Proposer, &sync.Mutex{}, sha256.New(), new(int)}
		p.Proposer, asked = d, append(asked, d)
		c.Policies = append(c.Policies, p)
	}
	r, err := replay.Run(t.Context(), c, talks)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i, d := range asked {
		p := r.Policies[i]
		if p.Differing > 0 || *d.n == 0 || *d.n != 2*p.Repeated+p.Errors {
			t.Errorf("%s: asked %d times, %d errors (%s), %d decisions made twice, %d differ", p.Policy, *d.n, p.Errors, p.FirstError, p.Repeated, p.Differing)
		}
		fmt.Fprintf(&lines, "%s %d %s\n", p.Policy, *d.n, hex.EncodeToString(d.sum.Sum(nil)))
	}
	return lines.String()
}

// TestDecisionsAlike has all built-in policies decide over all conversations of the
// repository, each decision twice, by the compiler and the interpreter. All decisions
// are those of testdata/decisions.txt, on every processor. UPDATE_GOLDEN=1 rewrites the
// file. MOOT_DECISIONS is how many decisions of each shared set are compared too.
func TestDecisionsAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of decisions in the interpreter")
	}
	compiler, interpreter := engine(t, false), engine(t, true)
	alike := func(file string, sample int) string {
		compiled := decisionsOf(t, compiler, sample, talksOf(file))
		if interpreted := decisionsOf(t, interpreter, sample, talksOf(file)); interpreted != compiled {
			t.Errorf("%s: the compiler decides\n%sand the interpreter\n%s", file, compiled, interpreted)
		}
		return compiled
	}
	var all []string
	for _, file := range keptTalks {
		compiled := alike(file, 0)
		all = append(all, "# "+strings.TrimPrefix(filepath.ToSlash(file), "../")+"\n"+compiled)
	}
	golden := filepath.Join("testdata", "decisions.txt")
	got := strings.Join(all, "")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v, or the decisions differ; if the policies were changed, UPDATE_GOLDEN=1 rewrites %s\n%s", err, golden, got)
	}
	sample, err := strconv.Atoi(os.Getenv("MOOT_DECISIONS"))
	if err != nil {
		return
	}
	shared, err := filepath.Glob("../../shared/transcripts/*.jsonl.gz")
	if err != nil || len(shared) == 0 {
		t.Fatal("the shared transcripts are not next to this checkout")
	}
	for _, file := range shared {
		t.Logf("%s\n%s", filepath.Base(file), alike(file, sample))
	}
}

// talksOf reads the conversations of a file.
func talksOf(file string) iter.Seq2[history.Transcript, error] {
	return func(yield func(history.Transcript, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(history.Transcript{}, err)
			return
		}
		defer f.Close()
		for c, err := range transcripts.ReadConversations(f, file) {
			if err != nil {
				yield(history.Transcript{}, err)
				return
			}
			if !yield(transcriptOf(c), nil) {
				return
			}
		}
	}
}
