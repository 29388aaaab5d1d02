package templates_test

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
)

// withFields returns an input that has hand-offs, tasks and silences with unusual texts.
func withFields(r *rand.Rand) policy.Input {
	in := policy.Input{ABI: policy.ABI, Room: "r", Decision: 1, Turn: 1}
	if r.Intn(3) > 0 {
		in.Handoff = &policy.Handoff{From: word(r, 9), To: "x" + word(r, 9), Reason: word(r, 40)}
	}
	for range r.Intn(4) {
		a := policy.Agent{ID: word(r, 9), Eligible: true}
		for range r.Intn(4) {
			a.Tasks = append(a.Tasks, policy.Task{ID: word(r, 5), Title: word(r, 20), State: policy.TaskWorking, After: words(r)})
		}
		in.Agents = append(in.Agents, a)
	}
	if r.Intn(2) > 0 {
		in.Replaced = word(r, 9)
	}
	for i := range r.Intn(4) {
		in.Events = append(in.Events, policy.Event{Seq: int64(i + 1), Kind: policy.KindDecline, Silent: words(r), Bytes: r.Intn(20)})
	}
	return in
}

// fieldsOf returns the reason that the policies in testdata/fields give.
func fieldsOf(in policy.Input) string {
	s := ""
	if h := in.Handoff; h != nil {
		s = h.From + ">" + h.To + ":" + h.Reason
	}
	for _, a := range in.Agents {
		s += ";" + a.ID
		for _, t := range a.Tasks {
			s += " " + t.ID + "/" + t.Title + "/" + t.State
			for _, id := range t.After {
				s += "+" + id
			}
		}
	}
	s += "|" + in.Replaced
	for _, e := range in.Events {
		for _, id := range e.Silent {
			s += "-" + id
		}
		s += e.Kind
	}
	return s
}

// TestKitsReadFields: the SDK of each language with structs reads the hand-off, the
// tasks and the silences, in any order of the members.
func TestKitsReadFields(t *testing.T) {
	t.Parallel()
	for lang, file := range map[string]string{
		"go": "policy.go", "c": "policy.c", "rust": "src/lib.rs", "assemblyscript": "assembly/policy.ts",
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			dir := write(t, lang, "fields")
			source, err := os.ReadFile(filepath.Join("testdata", "fields", lang, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), source, 0o644); err != nil {
				t.Fatal(err)
			}
			host, err := plugins.NewHost(plugins.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			p, err := host.Load(t.Context(), plugins.Module{Name: "fields", Wasm: build(t, dir), Trusted: true})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewSource(4))
			for range 200 {
				in := withFields(r)
				want := fieldsOf(in)
				if want == "" || len(want) > policy.MaxReason {
					continue
				}
				input := in.AppendJSON(nil)
				for _, b := range [][]byte{input, rewritten(t, input)} {
					if d, _, err := p.Decide(t.Context(), b); err != nil || d.Reason != want {
						t.Fatalf("%v\ngot  %q\nwant %q\n%s", err, d.Reason, want, b)
					}
				}
			}
		})
	}
}

// TestOlderModules: modules that were built before the fields of a minor version
// answer an input that has them as they answer the same input without them.
func TestOlderModules(t *testing.T) {
	t.Parallel()
	langs := []string{"assemblyscript", "c", "rust", "wat"}
	for version, fields := range map[string]struct {
		remove, add func(*policy.Input, *rand.Rand)
	}{
		"before1.2": {withoutTasks, withTasks},
		"before1.3": {withoutSilences, withSilences},
	} {
		older := load(t, "guests/"+version, langs...)
		r := rand.New(rand.NewSource(5))
		for range 200 {
			in := oddInput(r)
			fields.remove(&in, r)
			before := in.AppendJSON(nil)
			fields.add(&in, r)
			after := in.AppendJSON(nil)
			for _, lang := range langs {
				want, err := older[lang].Run(t.Context(), before)
				if err != nil {
					t.Fatalf("%s: %v\n%s", lang, err, before)
				}
				if got, err := older[lang].Run(t.Context(), after); err != nil || string(got.Output) != string(want.Output) {
					t.Fatalf("%s: %v\n%s\n%s\nin place of\n%s", lang, err, after, got.Output, want.Output)
				}
			}
		}
	}
}

func withoutTasks(in *policy.Input, r *rand.Rand) {
	withoutSilences(in, r)
	in.Handoff = nil
	for i := range in.Agents {
		in.Agents[i].Tasks = nil
	}
}

// withTasks adds the fields of ABI 1.2 and of later minor versions.
func withTasks(in *policy.Input, r *rand.Rand) {
	fields := withFields(r)
	in.Handoff = fields.Handoff
	if n := len(in.Agents); n > 0 && in.Handoff != nil {
		in.Handoff.To = in.Agents[r.Intn(n)].ID
	}
	for i := range in.Agents {
		if i < len(fields.Agents) {
			in.Agents[i].Tasks = fields.Agents[i].Tasks
		}
	}
	withSilences(in, r)
}

func withoutSilences(in *policy.Input, _ *rand.Rand) {
	in.Replaced = ""
	for i := range in.Events {
		in.Events[i].Silent = nil
	}
}

// withSilences adds the fields of ABI 1.3.
func withSilences(in *policy.Input, r *rand.Rand) {
	in.Replaced = word(r, 9)
	for i := range in.Events {
		in.Events[i].Silent = words(r)
		if n := len(in.Agents); n > 0 {
			in.Events[i].Silent = append(in.Events[i].Silent, in.Agents[r.Intn(n)].ID)
		}
	}
}
