package replay

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// A rule is a baseline of design/replay.md: a score for each candidate. What
// it scores alike is ranked by who spoke last.
type rule func(in *policy.Input, seat int) float64

// Propose makes a rule a Policy. The choice is the candidate that the scores
// rank first.
func (r rule) Propose(_ context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	var d policy.Decision
	best := -1
	for i := range in.Agents {
		a := &in.Agents[i]
		if !a.Eligible {
			continue
		}
		d.Scores = append(d.Scores, policy.Score{Agent: a.ID, Score: r(&in, i)})
		if best < 0 || cmp.Or(cmp.Compare(r(&in, i), r(&in, best)), cmp.Compare(a.LastTurn, in.Agents[best].LastTurn)) > 0 {
			best = i
		}
	}
	d.Action, d.Agent = policy.ActionSpeak, in.Agents[best].ID
	return d, policy.Record{}, nil
}

// only declines when a rule finds nobody.
type only rule

func (r only) Propose(ctx context.Context, in policy.Input) (policy.Decision, policy.Record, error) {
	for i := range in.Agents {
		if in.Agents[i].Eligible && r(&in, i) > 0 {
			return rule(r).Propose(ctx, in)
		}
	}
	return policy.Decline("nobody is addressed"), policy.Record{}, nil
}

func lastSeat(in *policy.Input) int {
	return in.Seat(in.LastSaid().From)
}

func roundRobin(in *policy.Input, seat int) float64 {
	n := len(in.Agents)
	return -float64((seat - lastSeat(in) + n) % n)
}

func leastRecent(in *policy.Input, seat int) float64 {
	if t := in.Agents[seat].LastTurn; t > 0 {
		return -float64(t)
	}
	return 1e9 - float64(seat)
}

func recency(*policy.Input, int) float64           { return 0 }
func frequency(in *policy.Input, seat int) float64 { return float64(in.Agents[seat].Turns) }
func bigram(in *policy.Input, seat int) float64    { return float64(in.Agents[seat].Followed.Last) }

func ngram(in *policy.Input, seat int) float64 {
	return 1e6*float64(in.Agents[seat].Followed.LastTwo) + bigram(in, seat)
}

func addressed(in *policy.Input, seat int) float64 {
	if who := in.LastSaid().Addressed; len(who) > 0 && who[len(who)-1] == in.Agents[seat].ID {
		return 1e12
	}
	return 0
}

func addressedThenNgram(in *policy.Input, seat int) float64 {
	return addressed(in, seat) + ngram(in, seat)
}

func baselines() []Subject {
	var all []Subject
	for _, b := range []struct {
		name string
		p    Policy
	}{
		{"round_robin", rule(roundRobin)},
		{"least_recent", rule(leastRecent)},
		{"aba", rule(recency)},
		{"freq", rule(frequency)},
		{"bigram", rule(bigram)},
		{"ngram3", rule(ngram)},
		{"vocative_only", only(addressed)},
		{"vocative_aba", rule(addressed)},
		{"vocative_ngram3", rule(addressedThenNgram)},
	} {
		all = append(all, Subject{Name: b.name, Policy: b.p})
	}
	return all
}

// TestBaselines holds the metrics to the figures that the prototype behind
// design/replay.md prints to four decimals.
func TestBaselines(t *testing.T) {
	for _, c := range []struct {
		set                      string
		conversations, decisions int
		want                     map[string]string // accuracy, macro, MRR, where truth had spoken, declines, selective
	}{
		{"whowhen", 95, 1074, map[string]string{
			"round_robin":     "0.3976 0.3568 0.6346 0.4261 0.0000 0.3976",
			"least_recent":    "0.2114 0.3505 0.5071 0.0702 0.0000 0.2114",
			"aba":             "0.6629 0.5191 0.8054 0.8276 0.0000 0.6629",
			"freq":            "0.6657 0.5172 0.8059 0.8313 0.0000 0.6657",
			"bigram":          "0.6657 0.5185 0.8067 0.8313 0.0000 0.6657",
			"ngram3":          "0.6713 0.5225 0.8095 0.8387 0.0000 0.6713",
			"vocative_only":   "0.2328 0.0983 0.2346 0.3054 0.7626 0.9804",
			"vocative_aba":    "0.6890 0.5260 0.8196 0.8596 0.0000 0.6890",
			"vocative_ngram3": "0.6918 0.5307 0.8215 0.8633 0.0000 0.6918",
		}},
		{"delidata", 198, 4877, map[string]string{
			"round_robin":     "0.3828 0.4026 0.6494 0.3804 0.0000 0.3828",
			"least_recent":    "0.4013 0.4370 0.6579 0.3735 0.0000 0.4013",
			"aba":             "0.3539 0.3624 0.6331 0.3781 0.0000 0.3539",
			"freq":            "0.4017 0.4039 0.6604 0.4317 0.0000 0.4017",
			"bigram":          "0.3984 0.4114 0.6568 0.4280 0.0000 0.3984",
			"ngram3":          "0.4050 0.4196 0.6593 0.4353 0.0000 0.4050",
			"vocative_only":   "0.0185 0.0179 0.0291 0.0204 0.9569 0.4286",
			"vocative_aba":    "0.3574 0.3658 0.6350 0.3818 0.0000 0.3574",
			"vocative_ngram3": "0.4072 0.4212 0.6605 0.4376 0.0000 0.4072",
		}},
		{"llmafia", 6, 368, map[string]string{
			"round_robin":     "0.1304 0.1314 0.3579 0.1300 0.0000 0.1304",
			"least_recent":    "0.0598 0.0694 0.2651 0.0279 0.0000 0.0598",
			"aba":             "0.1576 0.1667 0.3921 0.1796 0.0000 0.1576",
			"freq":            "0.2038 0.2037 0.4221 0.2322 0.0000 0.2038",
			"bigram":          "0.1793 0.1969 0.4012 0.2043 0.0000 0.1793",
			"ngram3":          "0.1875 0.2016 0.4038 0.2136 0.0000 0.1875",
			"vocative_only":   "0.0734 0.0699 0.1396 0.0836 0.6875 0.2348",
			"vocative_aba":    "0.1766 0.1784 0.4033 0.2012 0.0000 0.1766",
			"vocative_ngram3": "0.1957 0.1993 0.4087 0.2229 0.0000 0.1957",
		}},
	} {
		t.Run(c.set, func(t *testing.T) {
			r, err := Run(t.Context(), Config{Subjects: baselines()}, sharedTalks(t, c.set))
			if err != nil {
				t.Fatal(err)
			}
			if r.Conversations != c.conversations || r.Decisions != c.decisions {
				t.Errorf("%d decisions on %d conversations, want %d on %d", r.Decisions, r.Conversations, c.decisions, c.conversations)
			}
			for i := range r.Policies {
				p := &r.Policies[i]
				got := fmt.Sprintf("%.4f %.4f %.4f %.4f %.4f %.4f", p.Accuracy, p.MacroAccuracy, p.MRR, p.AccuracySeen, p.DeclineRate, p.SelectiveAccuracy)
				if got != c.want[p.Policy] {
					t.Errorf("%s: %s, want %s", p.Policy, got, c.want[p.Policy])
				}
			}
		})
	}
}

// TestBalanced: in the games of llmafia, where a person or the game speaks in
// nine turns of ten, the rules are no better than chance.
func TestBalanced(t *testing.T) {
	r, err := Run(t.Context(), Config{Subjects: baselines()}, sharedTalks(t, "llmafia"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // balanced, silence precision and recall, speak precision and recall
		"round_robin":   "0.5072 0.9009 0.9063 0.1143 0.1081",
		"freq":          "0.5013 0.8997 0.9486 0.1053 0.0541",
		"ngram3":        "0.5207 0.9036 0.9063 0.1389 0.1351",
		"vocative_only": "0.5327 0.9061 0.9033 0.1579 0.1622",
	}
	for _, p := range r.Policies {
		if p.Silence == nil || p.Silence.TrueRate < 0.8994 || p.Silence.TrueRate > 0.8996 {
			t.Fatalf("%s: %+v", p.Policy, p.Silence)
		}
		s := p.Silence
		got := fmt.Sprintf("%.4f %.4f %.4f %.4f %.4f", p.BalancedAccuracy, s.SilencePrecision, s.SilenceRecall, s.SpeakPrecision, s.SpeakRecall)
		if w, ok := want[p.Policy]; ok && got != w {
			t.Errorf("%s: %s, want %s", p.Policy, got, w)
		}
	}
}

// sharedTalks reads a shared set of the neutral form.
func sharedTalks(t testing.TB, set string) iter.Seq2[Transcript, error] {
	name := filepath.Join("..", "..", "shared", "transcripts", set+".jsonl.gz")
	if _, err := os.Stat(name); err != nil {
		t.Skip("the shared transcripts are not beside this checkout")
	}
	return func(yield func(Transcript, error) bool) {
		f, err := os.Open(name)
		if err != nil {
			yield(Transcript{}, err)
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			yield(Transcript{}, err)
			return
		}
		for d := json.NewDecoder(z); ; {
			var c struct {
				ID           string
				Participants []Person
				Turns        []struct {
					Speaker, Text string
					Addressees    []string
				}
			}
			if err := d.Decode(&c); err == io.EOF {
				return
			} else if err != nil {
				yield(Transcript{}, err)
				return
			}
			talk := &Talk{ID: c.ID, Participants: c.Participants}
			for _, turn := range c.Turns {
				talk.Turns = append(talk.Turns, Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees})
			}
			if !yield(Transcript{Name: c.ID, Talk: talk}, nil) {
				return
			}
		}
	}
}
