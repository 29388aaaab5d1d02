package templates_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies/policy"
)

// TestPanicText: where a language has panics, the error of a decision has the
// text of one and the place in the source.
func TestPanicText(t *testing.T) {
	t.Parallel()
	for lang, c := range map[string]struct{ file, from, to, place string }{
		"rust":           {"src/lib.rs", "    let said = input.last_said();\n", "    let said = input.last_said();\n    if input.agents.is_empty() { panic!(\"nobody is {}\", \"here\"); }\n", "src/lib.rs:13"},
		"assemblyscript": {"assembly/policy.ts", "  const e = input.lastSaid();\n", "  const e = input.lastSaid();\n  if (input.agents.length == 0) throw new Error(\"nobody is here\");\n", "assembly/policy.ts:9"},
		"go":             {"policy.go", "", "", ""},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			dir := write(t, lang, "my-policy")
			path := filepath.Join(dir, filepath.FromSlash(c.file))
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(source)
			if lang == "go" {
				c.from = "func decide(in *policy.Input) policy.Decision {\n"
				c.to = c.from + "\tif len(in.Agents) == 0 {\n\t\tpanic(\"nobody is here\")\n\t}\n"
			}
			changed := strings.Replace(text, c.from, c.to, 1)
			if changed == text {
				t.Fatalf("%s is not as this test knows it", c.file)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			host, err := plugins.NewHost(plugins.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			p, err := host.Load(t.Context(), plugins.Module{Name: "my-policy", Wasm: build(t, dir), Trusted: true})
			if err != nil {
				t.Fatal(err)
			}
			in := policy.Input{ABI: policy.ABI, Room: "r", Decision: 1, Turn: 1}
			_, r, err := p.Decide(t.Context(), in.AppendJSON(nil))
			var e *plugins.Error
			if !errors.As(err, &e) || e.Code != plugins.CodeTrap || !strings.Contains(e.What, ": nobody is here") || !strings.Contains(e.What, c.place) {
				t.Errorf("%v\n%s", err, r.Log)
			}
		})
	}
}
