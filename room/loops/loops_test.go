package loops

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var defaults = Limits{Ring: 20, PingPong: 4, Internal: 12}

// walk addresses along the agents of a path, each in a turn of its own, until a guard
// trips or the path ends. It returns the steps that were taken and the reason.
func walk(g *Guard, path ...string) (steps int, reason string) {
	for i := 1; i < len(path); i++ {
		g.Address(path[i-1], path[i], i)
		if _, reason := g.Tripped(defaults); reason != "" {
			return i, reason
		}
	}
	return len(path) - 1, ""
}

func TestRing(t *testing.T) {
	for _, c := range []struct {
		name, path string // the path is repeated
		steps      int
		reason     string
	}{
		{"two", "ab", 20, "loop ring: a -> b -> a"},
		{"three", "abc", 20, "loop ring: c -> a -> b -> c"},
		{"four", "abcd", 20, "loop ring: a -> b -> c -> d -> a"},
		{"a hub", "abac", 20, "loop ring: a -> b -> a -> c -> a"},
		{"five", "abcde", 99, ""},
		{"three with a detour", "abcabcabcabcd", 99, ""},
		{"two, then three", "ababababcab", 99, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := strings.Split(strings.Repeat(c.path, 100), "")[:100]
			steps, reason := walk(&Guard{}, path...)
			if steps != c.steps || reason != c.reason {
				t.Errorf("%d steps, %q; want %d, %q", steps, reason, c.steps, c.reason)
			}
		})
	}
}

// TestRingBegins checks that a ring is counted from its first step, whatever was
// before it, and that a small limit needs a ring that closes twice.
func TestRingBegins(t *testing.T) {
	var g Guard
	walk(&g, "d", "a", "c", "b")
	g.Address("a", "b", 50) // b has not answered: another chain begins
	if steps, reason := walk(&g, strings.Split(strings.Repeat("bca", 9), "")...); steps != 19 || !strings.HasPrefix(reason, "loop ring") {
		t.Errorf("%d steps after the first one, %q", steps, reason)
	}
	g = Guard{}
	for i, step := range []string{"ab", "bc", "ca", "ab", "bc", "ca"} {
		g.Address(step[:1], step[1:], i+1)
		if name, _ := g.Tripped(Limits{Ring: 2, PingPong: 4, Internal: 12}); (name == Ring) != (i == 5) {
			t.Errorf("step %d: %q", i+1, name)
		}
	}
}

func TestRepetitions(t *testing.T) {
	var g Guard
	for turn := 1; turn <= 40; turn++ {
		g.Address("a", "b", turn) // nobody answers
	}
	if g.Chain != 1 {
		t.Errorf("40 messages to the same agent are a chain of %d", g.Chain)
	}
	g.Address("a", "a", 0)
	if g.Chain != 1 {
		t.Error("a step to itself counts")
	}
	g = Guard{}
	for range 40 { // calls and results in one turn
		g.Address("a", "b", 7)
		g.Address("b", "a", 7)
	}
	if g.Chain != 2 {
		t.Errorf("40 calls in one turn are a chain of %d", g.Chain)
	}
	g = Guard{}
	for range 40 { // between the turns
		g.Address("a", "b", 0)
		g.Address("b", "a", 0)
	}
	if name, _ := g.Tripped(defaults); name != Ring {
		t.Error("messages between turns go round without an end")
	}
}

func TestPingPong(t *testing.T) {
	var g Guard
	for i := range 9 {
		if name, _ := g.Tripped(defaults); name != "" {
			t.Fatalf("%s after %d", name, i)
		}
		g.Exchange([]string{"w", "m"}[i%2], []string{"m", "w"}[i%2])
		g.Exchange([]string{"w", "m"}[i%2], []string{"m", "w"}[i%2]) // twice the same way counts once
		g.Exchange("w", "x")                                         // never answered
	}
	if name, reason := g.Tripped(defaults); name != PingPong || !strings.Contains(reason, "m and w") {
		t.Errorf("%s: %s", name, reason)
	}
	g.Reset()
	if name, _ := g.Tripped(defaults); name != "" || !reflect.DeepEqual(g, Guard{}) {
		t.Errorf("after progress: %s, %+v", name, g)
	}
}

func TestInternal(t *testing.T) {
	var g Guard
	for i := range 13 {
		if name, _ := g.Tripped(defaults); name != "" {
			t.Fatalf("%s after %d", name, i)
		}
		g.AddInternal()
	}
	if name, _ := g.Tripped(defaults); name != Internal {
		t.Error("13 internal messages do not stop the room")
	}
}

// TestGuard compares the guard with the definition of a ring over all steps, and
// checks that a copy is independent and that its JSON form is complete.
func TestGuard(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var g Guard
		var all []Step
		limit := rapid.IntRange(2, 9).Draw(rt, "limit")
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			agents := []string{"a", "b", "c", "d"}
			from := rapid.SampledFrom(agents).Draw(rt, "from")
			if n := len(all); n > 0 && rapid.IntRange(0, 5).Draw(rt, "chained") > 0 {
				from = all[n-1].To
			}
			to := rapid.SampledFrom(agents).Draw(rt, "to")
			if n := len(all); n > 2 && rapid.IntRange(0, 3).Draw(rt, "round") > 0 {
				to = all[n-rapid.IntRange(1, 2).Draw(rt, "back")].From
			}
			before, _ := json.Marshal(g)
			h := g
			h.Address(from, to, 0)
			h.Exchange(from, to)
			if after, _ := json.Marshal(g); string(after) != string(before) {
				rt.Fatal("a copy changed the original")
			}
			g.Address(from, to, 0)
			if n := len(all); from != to && (n == 0 || all[n-1] != Step{From: from, To: to}) {
				all = append(all, Step{From: from, To: to})
			}
			name, _ := g.Tripped(Limits{Ring: limit, PingPong: 4, Internal: 12})
			if want := slices.ContainsFunc([]int{2, 3, 4}, func(p int) bool { return ringOf(all, p, limit) }); (name == Ring) != want {
				rt.Fatalf("%v: %q, a ring is %t", all, name, want)
			}
		}
		var back Guard
		b, err := json.Marshal(g)
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || !reflect.DeepEqual(back, g) {
			rt.Fatalf("%v: %s is %+v", err, b, back)
		}
	})
}

// ringOf reports whether the newest steps are a ring with a period.
func ringOf(all []Step, period, limit int) bool {
	n := max(limit, 2*period)
	if len(all) < n {
		return false
	}
	for i, s := range all[len(all)-n:] {
		if at := len(all) - n + i; i > 0 && all[at-1].To != s.From || i >= period && all[at-period] != s {
			return false
		}
	}
	return true
}
