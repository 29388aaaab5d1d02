package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile("\\[(`?)([^\\]`]+)`?\\]\\(([^)#]+)")
	goSymbol = regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z]+)?$`)
)

// TestArchitectureLinks checks that each file that docs/architecture.md links to
// exists, and that it declares the function or type that the link names.
func TestArchitectureLinks(t *testing.T) {
	const page = "docs/architecture.md"
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	links := link.FindAllStringSubmatch(string(text), -1)
	if len(links) < 50 {
		t.Fatalf("%s has %d links: the search is broken", page, len(links))
	}
	for _, m := range links {
		code, name, target := m[1] != "", m[2], m[3]
		file := filepath.Join("..", "..", "docs", filepath.FromSlash(target))
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s links to %s, which does not exist: correct the link", page, target)
			continue
		}
		if !code || !goSymbol.MatchString(name) || !strings.HasSuffix(target, ".go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !declares(string(source), name) {
			t.Errorf("%s says that %s is in %s, which does not declare it: correct the link", page, name, target)
		}
	}
}

// declares reports whether source declares a function, type, constant or
// variable, or the method Type.Method.
func declares(source, name string) bool {
	pattern := `(?m)^(func |type |const |var |\t)` + name + `\b`
	if recv, method, ok := strings.Cut(name, "."); ok {
		pattern = `(?m)^func \(\w* ?\*?` + recv + `(\[\w+\])?\) ` + method + `\(`
	}
	return regexp.MustCompile(pattern).MatchString(source)
}
