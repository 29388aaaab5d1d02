package replay_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/replay"
)

// TestShuffledBuiltIns: other ids for the same people move no figure of a
// built-in policy by more than a point. roundrobin is left out, for it goes by
// nothing but the order of ids.
func TestShuffledBuiltIns(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "shared", "transcripts", "delidata.jsonl.gz")
	if _, err := os.Stat(file); err != nil {
		t.Skip("the shared transcripts are not beside this checkout")
	}
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	c := replay.Config{Resamples: 1, Repeat: 1 << 20}
	for _, name := range []string{"adaptive", "mention", "quiet", "humanfirst"} {
		c.Subjects = append(c.Subjects, builtIn(t, host, name))
	}
	plain := figures(t, c, conversations(file))
	rng := rand.New(rand.NewPCG(1, 2))
	shuffled := figures(t, c, func(yield func(replay.Transcript, error) bool) {
		for x, err := range conversations(file) {
			if err == nil {
				exchange(x.Talk, rng)
			}
			if !yield(x, err) {
				return
			}
		}
	})
	for i, p := range plain {
		q := shuffled[i]
		for name, pair := range map[string][2]replay.Figure{
			"accuracy": {p.Accuracy, q.Accuracy}, "mrr": {p.MRR, q.MRR}, "decline_rate": {p.DeclineRate, q.DeclineRate},
			"top_speaker": {p.TopSpeaker, q.TopSpeaker}, "gini": {p.Gini, q.Gini}, "entropy": {p.Entropy, q.Entropy},
		} {
			if moved := math.Abs(float64(pair[0] - pair[1])); moved > 0.01 {
				t.Errorf("%s: %s is %.4f, with other ids %.4f", p.Policy, name, pair[0], pair[1])
			}
		}
	}
}

func figures(t *testing.T, c replay.Config, talks func(func(replay.Transcript, error) bool)) []replay.Result {
	t.Helper()
	r, err := replay.Run(t.Context(), c, talks)
	if err != nil {
		t.Fatal(err)
	}
	return r.Policies
}

// exchange gives the participants of a talk each other's ids, in the texts too.
func exchange(talk *replay.Talk, rng *rand.Rand) {
	var from []string
	for _, p := range talk.Participants {
		from = append(from, p.ID)
	}
	to := slices.Clone(from)
	rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	var pairs []string
	id := map[string]string{}
	for i := range from {
		id[from[i]] = to[i]
		pairs = append(pairs, from[i], to[i], strings.ToLower(from[i]), strings.ToLower(to[i]))
	}
	names := strings.NewReplacer(pairs...)
	for i := range talk.Participants {
		talk.Participants[i].ID = id[talk.Participants[i].ID]
	}
	for i := range talk.Turns {
		turn := &talk.Turns[i]
		turn.Speaker, turn.Text, turn.To = id[turn.Speaker], names.Replace(turn.Text), slices.Clone(turn.To)
		for j := range turn.To {
			turn.To[j] = id[turn.To[j]]
		}
	}
}
