package training

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
)

// sharedSets reads the sets that the prior is trained on.
func sharedSets(tb testing.TB) (sets []*Set) {
	tb.Helper()
	for _, name := range []string{"whowhen", "delidata", "irc-threads", "irc-channels", "meetings-ami", "meetings-committee", "llmafia", "space-short", "long-space"} {
		sets = append(sets, shared(tb, name).Split()...)
	}
	return sets
}

// TestTable compares the accuracy with that of the prototype less half a point, on
// the sets that take little time. TestFigures measures all sets. The prior is
// trained without the set.
func TestTable(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains a prior for each set")
	}
	sets := sharedSets(t)
	samples := Collect(sets)
	for _, c := range []struct {
		set    string
		design float64
	}{{"ww-algo", 49.17}, {"ww-hand", 92.37}, {"delidata", 42.26}, {"meetings-committee", 55.03}, {"llmafia", 20.65}} {
		set := sets[slices.IndexFunc(sets, func(s *Set) bool { return s.Name == c.set })]
		s := Measure(adaptive.NewWith(samples.Prior(func(s *Set) bool { return s.Family == set.Family }), nil), set.Talks)
		t.Logf("%s: %.2f %%, the design %.2f; states up to %d bytes", c.set, 100*s.Accuracy(), c.design, s.State)
		if 100*s.Accuracy() < c.design-.5 {
			t.Errorf("%s: %.2f %%, want %.2f less half a point", c.set, 100*s.Accuracy(), c.design)
		}
		if s.State > 16<<10 {
			t.Errorf("%s: a state of %d bytes", c.set, s.State)
		}
	}
	for _, v := range samples.Prior(nil).Sets {
		if !slices.ContainsFunc(adaptive.Shipped().Sets, func(w adaptive.Vector) bool { return v == w }) {
			t.Errorf("the vector of %s is not the one that was trained; TestWritePrior trains it again", v.Name)
		}
	}
}

// TestTeam: after training on the other talks of Who&When, 80 % of the choices are
// right, and 95 % of the half with the highest confidence.
func TestTeam(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("learns five times")
	}
	talks, near := Distinct(shared(t, "whowhen").Talks)
	if len(near) != 0 {
		t.Errorf("near are %+v", near)
	}
	s := Folds(nil, talks, 5, nil)
	if s.Accuracy() < .8 || s.Surest(.5) < .95 {
		t.Errorf("%.2f %%, and %.2f %% of the surest half, want 80 and 95", 100*s.Accuracy(), 100*s.Surest(.5))
	}
}

// TestRenaming: the ids of participants do not change the accuracy.
func TestRenaming(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"whowhen", "delidata", "llmafia", "meetings-committee"} {
		set := shared(t, name)
		before := Measure(adaptive.New(), set.Talks)
		for seed := range uint64(2) {
			after := Measure(adaptive.New(), Renamed(set.Talks, seed))
			if d := 100 * (after.Accuracy() - before.Accuracy()); math.Abs(d) > 1 {
				t.Errorf("%s: %+.2f points after renaming", name, d)
			}
			if d := 100 * (after.MRR() - before.MRR()); math.Abs(d) > 1 {
				t.Errorf("%s: the reciprocal rank %+.2f points after renaming", name, d)
			}
		}
	}
}

// team returns talks in which b follows a, and c follows "query".
func team(t *testing.T, n int) (talks []*Talk) {
	t.Helper()
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		var all []string
		by := "a"
		for k := range 24 {
			text := fmt.Sprintf("w%d w%d and w%d of this", rng.IntN(999), rng.IntN(999), rng.IntN(999))
			next := map[string]string{"a": "b", "b": "a", "c": "a"}[by]
			if rng.IntN(3) == 0 && by != "c" {
				text, next = text+" query", "c"
			}
			all = append(all, by+": "+text)
			by = next
			_ = k
		}
		talks = append(talks, talkOf(t, fmt.Sprint("t", i), all...))
	}
	return talks
}

// TestLearn: training is deterministic, and its settings can be decoded.
func TestLearn(t *testing.T) {
	t.Parallel()
	talks := team(t, 42)
	fromTeam := Learn(talks[:40], nil)
	settings := func(team *adaptive.Team) policy.JSON {
		return append(append([]byte(`{"team":`), team.AppendJSON(nil)...), '}')
	}
	if again := Learn(talks[:40], nil); !bytes.Equal(settings(fromTeam), settings(again)) {
		t.Error("learning twice gives other settings")
	}
	p := adaptive.New()
	if err := p.Configure(settings(fromTeam)); err != nil {
		t.Fatal(err)
	}
	plain, direct, bySettings := Measure(adaptive.New(), talks[40:]), Measure(adaptive.NewWith(nil, fromTeam), talks[40:]), Measure(p, talks[40:])
	if direct.Accuracy() < plain.Accuracy()+.1 {
		t.Errorf("fromTeam %.1f %%, untaught %.1f %%", 100*direct.Accuracy(), 100*plain.Accuracy())
	}
	if math.Abs(bySettings.Accuracy()-direct.Accuracy()) > .01 {
		t.Errorf("by its settings %.2f %%, else %.2f %%", 100*bySettings.Accuracy(), 100*direct.Accuracy())
	}
	guest, native := sandboxed(t, "adaptive", settings(fromTeam)), policy.NewModule(policy.Named{Name: "adaptive", Policy: p})
	if err := native.Configure(policytest.Configure("adaptive", settings(fromTeam))); err != nil {
		t.Fatal(err)
	}
	for i, in := range inputs(adaptive.NewWith(nil, fromTeam), talks[41], 30) {
		r, err := guest.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := native.Decide(in); !bytes.Equal(r.Output, want) {
			t.Fatalf("decision %d: in the sandbox\n%s\nin this process\n%s", i+1, r.Output, want)
		}
	}
}

func TestTeamSettingsAreStrict(t *testing.T) {
	t.Parallel()
	good := string(Learn(team(t, 3), nil).AppendJSON(nil))
	for _, c := range []struct{ old, new, want string }{
		{`"vectors":["`, `"vectors":["!`, "vectors of another version; run `moot policy learn` again"},
		{`"counts":"`, `"counts":"_`, "counts of another version; run `moot policy learn` again"},
		{`"words":"`, `"words":"A`, "words of another version; run `moot policy learn` again"},
		{`"words":`, `"word":`, `unknown key "word"`},
		{`"vectors":[`, `"words":[`, "expected a string"},
		{`{"vectors"`, `["vectors"`, "expected an object"},
	} {
		err := adaptive.New().Configure(policy.JSON(`{"team":` + strings.Replace(good, c.old, c.new, 1) + `}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}
