package endpoint

import (
	"path"
	"strings"
	"testing"
)

// TestAllowRules checks which actions a rule allows.
func TestAllowRules(t *testing.T) {
	test := AllowRule{Kind: ActionExecute, Argv: []string{"go", "test", "*"}}
	for _, c := range []struct {
		rule   AllowRule
		action Permission
		want   bool
	}{
		{test, Permission{Kind: "execute", Command: "go test ./..."}, true},
		{test, Permission{Kind: "execute", Command: "go  test\t-run TestX ./a"}, true},
		{test, Permission{Kind: "execute", Command: "go test"}, true},
		{test, Permission{Kind: "execute", Argv: []string{"go", "test", "./..."}}, true},
		{test, Permission{Kind: "execute", Command: "go test", Argv: []string{"go", "test"}}, true},
		{test, Permission{Kind: "execute", Command: "go test", Paths: []string{"a/b"}}, true},
		{test, Permission{Kind: "execute", Command: "go test", Paths: []string{"."}}, true}, // opencode names the folder of each command
		{test, Permission{Kind: "execute", Command: "go test", Argv: []string{"rm", "-r"}}, false},
		{test, Permission{Kind: "execute", Command: "rm -r", Argv: []string{"go", "test"}}, false},
		{test, Permission{Kind: "execute", Command: "go vet"}, false},
		{test, Permission{Kind: "execute", Command: "go"}, false},
		{test, Permission{Kind: "execute", Command: "Go test"}, false},
		{test, Permission{Kind: "execute", Command: "env go test"}, false},
		{test, Permission{Kind: "execute", Command: "go test\u00a0x"}, false},
		{test, Permission{Kind: "execute", Command: "go test \u202ex"}, false},
		{test, Permission{Kind: "execute", Command: "go test ./... ; rm -rf ~"}, false},
		{test, Permission{Kind: "execute", Argv: []string{"go", "test", "x;y"}}, false},
		{test, Permission{Kind: "execute", Argv: []string{"go", "test", "x y"}}, false},
		{test, Permission{Kind: "execute", Argv: []string{"go", "test", ""}}, false},
		{test, Permission{Kind: "execute", Argv: []string{"bash", "-c", "go test"}}, false},
		{test, Permission{Kind: "execute"}, false},
		{test, Permission{Kind: "other", Command: "go test"}, false},
		{test, Permission{Kind: "EXECUTE", Command: "go test"}, false},
		{test, Permission{Kind: "execute", Command: "go test", Paths: []string{"../a"}}, false},
		{AllowRule{Kind: "execute", Argv: []string{"git", "*", "--", "a"}}, Permission{Kind: "execute", Command: "git diff -- a"}, true},
		{AllowRule{Kind: "execute", Argv: []string{"git", "*", "--", "a"}}, Permission{Kind: "execute", Command: "git diff x -- a"}, false},
		{AllowRule{Kind: "execute", Argv: []string{"ls"}}, Permission{Kind: "execute", Command: "ls"}, true},
		{AllowRule{Kind: "execute", Argv: []string{"ls"}}, Permission{Kind: "execute", Command: "ls -l"}, false},
		{AllowRule{Kind: "execute"}, Permission{Kind: "execute", Command: "ls"}, false},
		{AllowRule{Kind: "execute", Argv: []string{"*"}}, Permission{Kind: "execute", Command: "ls"}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"a/b.go"}}, true},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"."}}, true},
		{AllowRule{Kind: "delete"}, Permission{Kind: "delete", Paths: []string{"."}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read"}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"a", "../b"}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"/etc/passwd"}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"a/../b"}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{""}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "edit", Paths: []string{"a"}}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"a"}, Command: "cat a"}, false},
		{AllowRule{Kind: "read"}, Permission{Kind: "read", Paths: []string{"a"}, Argv: []string{"cat"}}, false},
		{AllowRule{Kind: "fetch"}, Permission{Kind: "fetch"}, true},
		{AllowRule{Kind: "fetch", Paths: []string{"a"}}, Permission{Kind: "fetch"}, false},
		{AllowRule{Kind: "other"}, Permission{Kind: "other"}, false},
		{AllowRule{Kind: "edit", Paths: []string{"src/**", "*.md"}}, Permission{Kind: "edit", Paths: []string{"src/a/b.go", "README.md"}}, true},
		{AllowRule{Kind: "edit", Paths: []string{"src/**", "*.md"}}, Permission{Kind: "edit", Paths: []string{"src/a.go", "docs/a.md"}}, false},
		{AllowRule{Kind: "edit", Paths: []string{"**/*.go"}}, Permission{Kind: "edit", Paths: []string{"a.go"}}, true},
		{AllowRule{Kind: "edit", Paths: []string{"**/x/**/*.go"}}, Permission{Kind: "edit", Paths: []string{"a/x/x/b/c.go"}}, true},
		{AllowRule{Kind: "edit", Paths: []string{"**/x/**/*.go"}}, Permission{Kind: "edit", Paths: []string{"a/b/c.go"}}, false},
		{AllowRule{Kind: "edit", Paths: []string{"a/*"}}, Permission{Kind: "edit", Paths: []string{"a/b/c"}}, false},
		{AllowRule{Kind: "edit", Paths: []string{"../**"}}, Permission{Kind: "edit", Paths: []string{"a"}}, false},
	} {
		if got := c.rule.Allows(c.action); got != c.want {
			t.Errorf("%s allows %+v: %t, want %t", c.rule, c.action, got, c.want)
		}
	}
}

// TestNoShell checks that each character with a meaning in a shell keeps a command
// from being split.
func TestNoShell(t *testing.T) {
	r := AllowRule{Kind: ActionExecute, Argv: []string{"go", "test", "*"}}
	for _, c := range shellCharacters + "\r\x00\x1b\u2028\u200b\ufffd" {
		for _, command := range []string{"go test a" + string(c) + "b", "go test " + string(c), "go test\t" + string(c) + "b"} {
			if _, ok := Words(command); ok || r.Allows(Permission{Kind: ActionExecute, Command: command}) {
				t.Errorf("%q is allowed", command)
			}
		}
	}
}

func TestRuleCheck(t *testing.T) {
	for want, r := range map[string]AllowRule{
		"":                      {Kind: "execute", Argv: []string{"go", "test", "*"}},
		"needs argv":            {Kind: "execute"},
		"does not name":         {Kind: "execute", Argv: []string{"*"}},
		"empty word":            {Kind: "execute", Argv: []string{"go", ""}},
		"of kind read":          {Kind: "read", Argv: []string{"cat"}},
		"unknown kinds":         {Kind: "other"},
		`"" is no kind`:         {},
		`"Read" is no kind`:     {Kind: "Read"},
		`"/etc/**" is no patt`:  {Kind: "read", Paths: []string{"/etc/**"}},
		`"../a" is no pattern`:  {Kind: "read", Paths: []string{"a", "../a"}},
		`"a/[" is no pattern`:   {Kind: "read", Paths: []string{"a/["}},
		`"" is no pattern`:      {Kind: "read", Paths: []string{""}},
		`"a/../.." is no patte`: {Kind: "edit", Paths: []string{"a/../.."}},
	} {
		err := r.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
	if got := (AllowRule{Kind: "execute", Argv: []string{"go", "test", "*"}, Paths: []string{"src/**"}}).String(); got != "{kind: execute, argv: [go, test, *], paths: [src/**]}" {
		t.Error(got)
	}
}

// FuzzAllowRule checks that no rule allows a command line in which a shell would see
// more than words, another program than its own, or a file outside the folder.
func FuzzAllowRule(f *testing.F) {
	f.Add("execute", "go test *", "go test ./...", "", "a/b")
	f.Add("execute", "go test *", "go test ./...; rm -r ~", "go test $(x)", "../b")
	f.Add("read", "", "", "", "a/../../b")
	f.Add("execute", "git * -- *", "git `x` -- y", "git\ndiff -- z", "/etc")
	f.Fuzz(func(t *testing.T, kind, pattern, command, argv, file string) {
		r := AllowRule{Kind: kind, Argv: strings.Fields(pattern)}
		p := Permission{Kind: kind, Command: command}
		if argv != "" {
			p.Argv = strings.Split(argv, " ")
		}
		if file != "" {
			p.Paths = []string{file}
		}
		if !r.Allows(p) {
			return
		}
		clean := path.Clean(file)
		switch {
		case r.Check() != nil:
			t.Errorf("an invalid rule allows something: %+v", r)
		case file != "" && (clean != file || path.IsAbs(file) || strings.HasPrefix(clean, "..") && (clean == ".." || clean[2] == '/')):
			t.Errorf("%s allows %q", r, file)
		case kind != ActionExecute && command+argv != "":
			t.Errorf("%s allows to run %q %q", r, command, argv)
		case kind == ActionExecute && strings.ContainsAny(command, shellCharacters):
			t.Errorf("%s allows %q", r, command)
		}
		for _, words := range [][]string{strings.Fields(command), p.Argv} {
			if len(words) > 0 && words[0] != r.Argv[0] {
				t.Errorf("%s allows the program %q", r, words[0])
			}
		}
	})
}
