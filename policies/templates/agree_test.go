package templates_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

// word returns a random text of at most so many characters: some that a JSON
// string escapes, some that end values outside of strings, and others.
func word(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.Intn(most + 1) {
		b.WriteString([]string{"a", "b", " ", `"`, `\`, "\n", "\x01", "é", "…", "😀", "}", "]", ",", ":"}[r.Intn(14)])
	}
	return b.String()
}

func words(r *rand.Rand) (all []string) {
	for range r.Intn(3) {
		all = append(all, word(r, 12))
	}
	return all
}

// oddInput returns a random input with unusual texts.
func oddInput(r *rand.Rand) policy.Input {
	in := policy.Input{ABI: 1, Room: word(r, 9), Decision: r.Int63(), Turn: r.Intn(99), NowMS: r.Int63(), Seed: "9f", Objective: word(r, 40)}
	in.Constraints = words(r)
	for i := range r.Intn(12) {
		in.Agents = append(in.Agents, policy.Agent{
			ID: fmt.Sprint(word(r, 10), i), Name: word(r, 20), Kind: policy.Local, Role: word(r, 30), Domains: words(r),
			Eligible: r.Intn(3) > 0, Ineligible: word(r, 9), Presence: word(r, 3), Turns: r.Intn(1000), LastTurn: r.Intn(4), Failures: r.Intn(3), Unread: r.Intn(3),
		})
	}
	for i := range r.Intn(14) {
		e := policy.Event{Seq: int64(i), Turn: i, Kind: policy.KindMessage, From: word(r, 9), Text: word(r, 300), Mentions: words(r)}
		if n := len(in.Agents); n > 0 {
			e.From, e.Addressed = in.Agents[r.Intn(n)].ID, append(words(r), in.Agents[r.Intn(n)].ID)
		}
		in.Events = append(in.Events, e)
	}
	for i := range in.Agents {
		for range r.Intn(3) {
			in.Agents[i].Tasks = append(in.Agents[i].Tasks, policy.Task{ID: word(r, 5), Title: word(r, 20), State: word(r, 9), After: words(r)})
		}
	}
	if n := len(in.Agents); n > 0 && r.Intn(3) == 0 {
		in.Handoff = &policy.Handoff{From: word(r, 9), To: in.Agents[r.Intn(n)].ID, Reason: word(r, 30)}
	}
	for i := range in.Events {
		if r.Intn(3) == 0 {
			in.Events[i].Silent = words(r)
		}
	}
	if r.Intn(3) == 0 {
		in.Replaced = word(r, 9)
	}
	in.State = policy.JSON(`{"n":[1,{"x":"\"]"}]}`)
	return in
}

// TestTemplatesAgree: the templates give the same answer to the same input, and
// no answer to the first half of an input.
func TestTemplatesAgree(t *testing.T) {
	t.Parallel()
	langs := []string{"c", "rust", "assemblyscript"}
	loaded := load(t, "guests", langs...)
	r := rand.New(rand.NewSource(1))
	for range 300 {
		in := oddInput(r)
		input := in.AppendJSON(nil)
		var first string
		for i, lang := range langs {
			res, err := loaded[lang].Run(t.Context(), input)
			if err != nil {
				t.Fatalf("%s: %v\n%s", lang, err, input)
			}
			if i == 0 {
				first = string(res.Output)
			}
			if _, err := policy.DecodeDecision(res.Output); err != nil || string(res.Output) != first {
				t.Fatalf("%s: %v\n%s\n%s: %s\n%s", langs[0], err, first, lang, res.Output, input)
			}
		}
		for _, lang := range langs {
			half := input[:r.Intn(len(input))]
			if res, err := loaded[lang].Run(t.Context(), half); err == nil {
				t.Fatalf("%s answered %s to half an input: %s", lang, res.Output, half)
			}
		}
	}
}
