package training

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/policytest"
	"github.com/folkmoot/moot/replay/history"
)

// TestTable compares the accuracy with that of the version before, which had trained
// weights, on the sets that take little time. TestFigures measures all sets.
func TestTable(t *testing.T) {
	t.Parallel()
	const least = 2.5 // points that a set may lose
	for _, name := range []string{"whowhen", "delidata", "meetings-committee", "llmafia", "irc-threads"} {
		for _, set := range shared(t, name).Split() {
			s := measured(t, set.Talks, adaptive.New()).Policies[0]
			if now, before := 100*float64(s.Accuracy), untrained[set.Name]; now < before-least {
				t.Errorf("%s: %.2f %%, before %.2f", set.Name, now, before)
			}
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
	r, err := Measure(t.Context(), talks, 5, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if s := &r.Policies[1]; s.Accuracy < .8 || s.Risk.At(50) < .95 {
		t.Errorf("%.2f %%, and %.2f %% of the surest half, want 80 and 95", 100*s.Accuracy, 100*s.Risk.At(50))
	}
}

// team returns talks in which b follows a, and c follows "query".
func team(n int) (talks []*history.Conversation) {
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
		talks = append(talks, talkOf(fmt.Sprint("t", i), all...))
	}
	return talks
}

// TestLearn: training is deterministic, and its settings can be decoded.
func TestLearn(t *testing.T) {
	t.Parallel()
	talks := team(42)
	fromTeam := learned(t, talks[:40])
	settings := func(team *adaptive.Team) policy.JSON {
		return append(append([]byte(`{"team":`), team.AppendJSON(nil)...), '}')
	}
	if again := learned(t, talks[:40]); !bytes.Equal(settings(fromTeam), settings(again)) {
		t.Error("learning twice gives other settings")
	}
	p := adaptive.New()
	if err := p.Configure(settings(fromTeam)); err != nil {
		t.Fatal(err)
	}
	r := measured(t, talks[40:], adaptive.New(), adaptive.NewWith(fromTeam), p)
	plain, direct, bySettings := r.Policies[0].Accuracy, r.Policies[1].Accuracy, r.Policies[2].Accuracy
	if direct < plain+.1 {
		t.Errorf("fromTeam %.1f %%, untaught %.1f %%", 100*direct, 100*plain)
	}
	if math.Abs(float64(bySettings-direct)) > .01 {
		t.Errorf("by its settings %.2f %%, else %.2f %%", 100*bySettings, 100*direct)
	}
	guest, native := sandboxed(t, "adaptive", settings(fromTeam)), policy.NewModule(policy.Named{Name: "adaptive", Policy: p})
	if err := native.Configure(policytest.Configure("adaptive", settings(fromTeam))); err != nil {
		t.Fatal(err)
	}
	for i, in := range inputs(t, adaptive.NewWith(fromTeam), talks[41], 30) {
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
	good := string(learned(t, team(3)).AppendJSON(nil))
	for _, c := range []struct{ old, new, want string }{
		{`"logit":"`, `"logit":"_`, "not what `moot policy learn` of this version wrote"},
		{`"logit":"`, `"logit":"AAAA`, "not what `moot policy learn` of this version wrote"},
		{`"logit":`, `"word":`, "not what `moot policy learn` of this version wrote"},
		{`{"logit"`, `["logit"`, "expected an object"},
		{`"logit":`, `"counts":`, "not what `moot policy learn` of this version wrote"},
		{`"logit":`, `"weights":[1],"logit":`, "not what `moot policy learn` of this version wrote"},
	} {
		err := adaptive.New().Configure(policy.JSON(`{"team":` + strings.Replace(good, c.old, c.new, 1) + `}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}
