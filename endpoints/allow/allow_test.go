package allow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// folder makes a folder with files and links, next to a folder with a secret.
func folder(t testing.TB) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "work")
	for _, d := range []string{"work/src/deep", "secret", "work2"} {
		if err := os.MkdirAll(filepath.Join(top, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"work/plan.md", "secret/key", "work2/plan.md"} {
		if err := os.WriteFile(filepath.Join(top, f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"out": "../secret", "key": filepath.Join(top, "secret", "key"), "in": "src", "self": ".", "loop": "loop", "deep": "src/deep", "new": "../secret/new",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestInside checks which paths are in the folder of an agent.
func TestInside(t *testing.T) {
	dir := folder(t)
	for file, want := range map[string]string{
		"plan.md": "plan.md", "./src/../plan.md": "plan.md", "src/none/new.go": "src/none/new.go", ".": ".", "": "",
		dir: ".", dir + "/plan.md": "plan.md", dir + "2/plan.md": "", "file://" + dir + "/plan.md": "plan.md", "file://host" + dir + "/plan.md": "",
		"in/a.go": "src/a.go", "self/self/plan.md": "plan.md", "../work/plan.md": "plan.md", "none/../plan.md": "plan.md",
		"out/key": "", "key": "", "out": "", "new": "", "loop": "", "..": "", "../secret/key": "", "../work2/plan.md": "", "/etc/passwd": "", "/": "",
		"deep/../../plan.md": "plan.md", "deep/../../../secret/key": "", "out/../work/plan.md": "plan.md", "out/../plan.md": "",
		"plan.md/../../secret/key": "", "~/x": "", "~root": "", "a\nb": "", "https://example.org/a": "", "none/../../secret/key": "",
	} {
		got, err := resolveAll(dir, []string{file})
		if want == "" {
			if err == nil {
				t.Errorf("%q is %q, which must be refused", file, got)
			}
			continue
		}
		if err != nil || got[0] != want {
			t.Errorf("%q is %q, %v, want %q", file, got, err, want)
		}
	}
}

// TestAnswer: what is outside is refused for every kind and rule, the rest by the
// first rule that matches, and else the owner is asked.
func TestAnswer(t *testing.T) {
	dir := folder(t)
	rules := []endpoint.AllowRule{{Kind: "read"}, {Kind: "execute", Argv: []string{"go", "test", "*"}}, {Kind: "edit", Paths: []string{"src/**"}}}
	for _, c := range []struct {
		p    endpoint.Permission
		dir  string
		by   string
		says string
	}{
		{endpoint.Permission{Kind: "read", Paths: []string{"plan.md"}}, dir, endpoint.RuledBy, "{kind: read}"},
		{endpoint.Permission{Kind: "read", Paths: []string{"plan.md"}, Dir: dir}, "", endpoint.RuledBy, "{kind: read}"},
		{endpoint.Permission{Kind: "read", Paths: []string{"key"}}, dir, endpoint.Unasked, `"key" is outside`},
		{endpoint.Permission{Kind: "other", Paths: []string{"plan.md", "/etc"}}, dir, endpoint.Unasked, `"/etc" is outside`},
		{endpoint.Permission{Kind: "execute", Command: "go test", Paths: []string{".."}}, dir, endpoint.Unasked, "outside"},
		{endpoint.Permission{Kind: "execute", Command: "go test ./..."}, dir, endpoint.RuledBy, "{kind: execute, argv: [go, test, *]}"},
		{endpoint.Permission{Kind: "execute", Command: "go test | sh"}, dir, "", ""},
		{endpoint.Permission{Kind: "edit", Paths: []string{"in/a.go"}}, dir, endpoint.RuledBy, "{kind: edit, paths: [src/**]}"},
		{endpoint.Permission{Kind: "edit", Paths: []string{"plan.md"}}, dir, "", ""},
		{endpoint.Permission{Kind: "read", Paths: []string{"plan.md"}}, "", endpoint.Unasked, "not known"},
		{endpoint.Permission{Kind: "read", Paths: []string{"plan.md"}}, dir + "/none", endpoint.Unasked, "cannot be opened"},
	} {
		a, ok := Answer(rules, c.dir, c.p)
		if ok != (c.by != "") || a.By != c.by || a.Allowed != (c.by == endpoint.RuledBy) || a.Always || !strings.Contains(a.Reason, c.says) {
			t.Errorf("%+v: %+v, %t, want %s %q", c.p, a, ok, c.by, c.says)
		}
	}
}

// FuzzInside checks that no path that is taken for one in the folder leads out of it.
func FuzzInside(f *testing.F) {
	for _, s := range []string{"plan.md", "out/key", "in/../plan.md", "deep/../../../secret/key", "file:///etc/passwd", "self/out/../secret", "new", "loop/a"} {
		f.Add(s)
	}
	root, err := filepath.EvalSymlinks(folder(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file string) {
		rel, ok := inside(root, file)
		if !ok {
			return
		}
		if !filepath.IsLocal(rel) {
			t.Fatalf("%q is %q", file, rel)
		}
		written := file
		if !filepath.IsAbs(written) {
			written = root + "/" + written
		}
		if real, err := filepath.EvalSymlinks(written); err == nil && real != root && !strings.HasPrefix(real, root+"/") {
			t.Errorf("%q is %q, and leads to %q", file, rel, real)
		}
	})
}
