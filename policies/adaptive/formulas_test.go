package adaptive

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// A testRoom is a room of agents with one letter as id, asked before each turn.
type testRoom struct {
	p      *Policy
	agents []policy.Agent
	state  policy.JSON
	spoke  string
}

func newTestRoom(ids string) *testRoom {
	r := &testRoom{p: New()}
	for _, id := range ids {
		r.agents = append(r.agents, policy.Agent{ID: string(id), Name: string(id), Kind: policy.Local})
	}
	return r
}

// say adds turns of the speakers and returns the decision after the last one. The
// text is that of the last one, which names and addresses the ids.
func (r *testRoom) say(speakers, text string, ids ...string) (d policy.Decision) {
	for i, s := range speakers {
		e := policy.Event{From: string(s), Kind: policy.KindMessage, Text: "so it is, and here is more"}
		if i == len(speakers)-1 && text != "" {
			e.Text, e.Mentions, e.Addressed = text, ids, ids
		}
		r.spoke += string(s)
		in := policy.Input{Agents: r.candidates(), Events: []policy.Event{e}, State: r.state}
		d = r.p.Decide(&in)
		r.state = bytes.Clone(d.State)
	}
	return d
}

// candidates counts who followed whom, as a room does.
func (r *testRoom) candidates() []policy.Agent {
	n := len(r.spoke)
	for i := range r.agents {
		a := &r.agents[i]
		a.Eligible = a.ID != r.spoke[n-1:]
		a.Followed = policy.Followed{Last: occurrences(r.spoke, r.spoke[n-1:]+a.ID)}
		if n > 1 {
			a.Followed.LastTwo = occurrences(r.spoke, r.spoke[n-2:]+a.ID)
		}
	}
	return r.agents
}

func occurrences(s, part string) (n int) {
	for i := range s {
		if strings.HasPrefix(s[i:], part) {
			n++
		}
	}
	return n
}

func (r *testRoom) row(id string) *row {
	rows := r.p.room.rows
	return &rows[slices.IndexFunc(rows, func(w row) bool { return r.agents[w.seat].ID == id })]
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-5 {
		t.Errorf("%s is %.7f, want %.7f", name, got, want)
	}
}

// TestHabitFormulas works each habit out by hand: a b c a b, and d is silent.
func TestHabitFormulas(t *testing.T) {
	t.Parallel()
	r := newTestRoom("abcd")
	r.say("abcab", "")
	// Transitions: b and c were new; then a and b had bucket 2, after a newcomer and
	// after bucket 2. Candidates now: a has bucket 1, c bucket 2, d none.
	all := map[string]float64{"a": 1.8, "c": .7 + 2, "d": .25 + 2}
	sum := 1.8 + .7 + 2 + .25 + 2
	recent := func(id string, n float64) float64 { return (n + all[id]/sum) / 2 }
	near(t, "recency of a", r.row("a").habit[recency], recent("a", 0))
	near(t, "recency of c", r.row("c").habit[recency], recent("c", 1))
	near(t, "recency of d", r.row("d").habit[recency], recent("d", 0))
	fast := func(powers ...float64) (n float64) {
		for _, p := range powers {
			n += math.Pow(fastDecay, p)
		}
		return n + .3
	}
	talk := fast(1, 4) + fast(2) + fast()
	near(t, "airtime of a", r.row("a").habit[airtime], fast(1, 4)/talk)
	near(t, "airtime of c", r.row("c").habit[airtime], fast(2)/talk)
	near(t, "airtime of d", r.row("d").habit[airtime], fast()/talk)
	pair := (1 + recent("c", 1)) / 2 // c followed b once
	near(t, "sequence of c", r.row("c").habit[sequence], (1+pair)/2)
	near(t, "sequence of d", r.row("d").habit[sequence], recent("d", 0)/4)
}

// TestLearning is the update by hand: Bayes with a power and a share.
func TestLearning(t *testing.T) {
	t.Parallel()
	r := newTestRoom("abcd")
	r.say("abca", "b, please", "b")
	before := r.p.room.weights
	want, sum := [laws]float64{}, 0.0
	for j := range taught {
		all := 0.0
		for i := range r.p.room.rows {
			all += r.p.room.rows[i].law(j)
		}
		want[j] = before[j] * math.Sqrt(r.row("b").law(j)/all+1e-6)
		sum += want[j]
	}
	r.say("b", "")
	for j := range taught {
		near(t, "a weight", r.p.room.weights[j], (1-sharedWeight)*want[j]/sum+sharedWeight*initial[j])
	}
	if w := r.p.room.weights; w[sequence*strengths+named] <= w[sequence*strengths+nothing] {
		t.Error("that names mean nothing has not lost weight")
	}
}

// TestNamesMeanNothing: in a room where those who are addressed never answer, the
// laws in which names mean nothing win.
func TestNamesMeanNothing(t *testing.T) {
	t.Parallel()
	r := newTestRoom("abcd")
	for range 12 {
		for _, s := range "abc" {
			r.say(string(s), "d, what do you say?", "d")
		}
	}
	sum := 0.0
	for h := range habitCount {
		sum += r.p.room.weights[h*strengths+nothing]
	}
	if d := r.say("a", "d, what do you say?", "d"); sum < .5 || d.Agent != "b" {
		t.Errorf("names mean nothing with %.2f; %s is chosen, want b", sum, d.Agent)
	}
}

// TestReasons: the sentences that users read.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, text, named, want string }{
		{"abcab", "", "", "c usually follows b"},
		{"abcab", "d?", "d", "d is addressed"},
		{"ab", "", "", "a spoke most often lately"},
		{"a", "", "", "b has not spoken yet"},
		{"abc", "```ls```", "", "shell runs the code"},
	} {
		r := newTestRoom("abcd")
		if strings.Contains(c.want, "shell") {
			r.agents[3].ID = "shell"
		}
		var ids []string
		if c.named != "" {
			ids = []string{c.named}
		}
		d := r.say(c.said, c.text, ids...)
		if !strings.HasPrefix(d.Reason, c.want+", ") {
			t.Errorf("%s %s: %s, want %s", c.said, c.text, d.Reason, c.want)
		}
	}
	two := newTestRoom("ab")
	if d := two.say("a", ""); !strings.HasPrefix(d.Reason, "b is the only other participant, ") {
		t.Error(d.Reason)
	}
}

// TestRenaming: with other ids, of another byte order, the decisions are the same
// but for the ids. Participants that have not spoken have the same score.
func TestRenaming(t *testing.T) {
	t.Parallel()
	rename := strings.NewReplacer("a", "z", "b", "f", "c", "e", "d", "y", "e", "c", "f", "b")
	r, other := newTestRoom("abcdef"), newTestRoom(rename.Replace("abcdef"))
	for k, s := range "abacabcab" {
		want, got := r.say(string(s), ""), other.say(rename.Replace(string(s)), "")
		if rename.Replace(want.Agent) != got.Agent || *want.Confidence != *got.Confidence {
			t.Errorf("turn %d: %s with %v, renamed %s with %v", k, want.Agent, *want.Confidence, got.Agent, *got.Confidence)
		}
		for _, id := range "ef" {
			if p, q := r.row("d").p, r.row(string(id)).p; p != q {
				t.Errorf("turn %d: d has %v and %c %v", k, p, id, q)
			}
		}
	}
}

// TestProbabilities: those of a law and of the mixture sum to 1.
func TestProbabilities(t *testing.T) {
	t.Parallel()
	agents, next := largeRoom(60, 3)
	for _, team := range []*Team{nil, NewTeam()} {
		p, state := NewWith(team), policy.JSON(nil)
		for range 200 {
			in := policy.Input{Agents: agents, Events: []policy.Event{next()}, State: state}
			state = bytes.Clone(p.Decide(&in).State)
			sum := 0.0
			for i := range p.room.rows {
				sum += p.room.rows[i].p
			}
			if math.Abs(sum-1) > 1e-4 {
				t.Fatalf("the probabilities sum to %v", sum)
			}
			for h := range habitCount {
				sum := 0.0
				for i := range p.room.rows {
					sum += p.room.rows[i].habit[h]
				}
				near(t, "the sum of a habit", sum, 1)
			}
		}
	}
}
