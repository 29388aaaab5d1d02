package importtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWords holds the words of language out of names, comments, messages and
// documentation. A new name that is refused has a standard term: words.go
// names it.
func TestWords(t *testing.T) {
	walkSources(t, func(path string, src []byte) {
		var found []finding
		switch {
		case strings.HasPrefix(path, "internal/importtest/words"): // it names them
		case strings.HasSuffix(path, ".go"):
			var err error
			if found, err = wordsOfGo(path, src); err != nil {
				t.Error(err)
			}
		case strings.HasSuffix(path, ".md"):
			found = wordsOfMarkdown(path, src)
		}
		for _, f := range found {
			t.Errorf("%s:%d: %q: use %s", f.pos.Filename, f.pos.Line, f.text, f.instead)
		}
	})
}

// TestWordsAreFound shows that each rule of TestWords refuses its word.
func TestWordsAreFound(t *testing.T) {
	for word := range notNames {
		src := "package p\n\nfunc " + word + "() {}\n"
		if allowedNames.MatchString(word) {
			continue
		}
		if found, err := wordsOfGo("p.go", []byte(src)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", src, found, err)
		}
	}
	for src, want := range map[string]int{
		"A caller who waits gets an error.":          0,
		"Whoever waits gets an error.":               1,
		"The caller waits. Who is late is refused.":  1,
		"The log runs beside the room.":              1,
		"Nobody may read it.":                        1,
		"The policy may decide that nobody speaks.":  0,
		"It returns what the caller has to release.": 0,
	} {
		found, err := wordsOfGo("p.go", []byte("package p\n\n// "+src+"\nvar x int\n"))
		if err != nil || min(len(found), 1) != want {
			t.Errorf("%q: %v, %v", src, found, err)
		}
		if found := wordsOfMarkdown("p.md", []byte(src)); min(len(found), 1) != want {
			t.Errorf("%q as Markdown: %v", src, found)
		}
	}
}

// TestPageFiles bounds the files of the page, which are read and changed by hand as Go
// is.
func TestPageFiles(t *testing.T) {
	const maxLines, least = 500, 20
	seen := 0
	err := filepath.WalkDir(filepath.Join(root, "internal", "page"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".js", ".css", ".html", ".svg"}, filepath.Ext(path)) {
			return err
		}
		src, err := os.ReadFile(path)
		if n := strings.Count(string(src), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: cut it by concept", path, n, maxLines)
		}
		seen++
		return err
	})
	if err != nil || seen < least {
		t.Errorf("%d files of the page: %v", seen, err)
	}
}

// TestLayout bounds files and folders: what grows past these bounds hides a
// concept or a package.
func TestLayout(t *testing.T) {
	const maxLines, maxFiles = 500, 25
	larger := map[string]int{
		"room":                35, // one state machine: its acts, events and rules share unexported state
		"transcripts/foreign": 32, // a file for each format, with the builder that they share
	}
	files := map[string]int{}
	walkSources(t, func(path string, src []byte) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(string(src), "\n// Code generated ") || strings.HasPrefix(string(src), "// Code generated ") {
			return
		}
		if n := strings.Count(string(src), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: cut it by concept", path, n, maxLines)
		}
		if !strings.HasSuffix(path, "_test.go") {
			files[filepath.Dir(path)]++
		}
	})
	for dir, n := range files {
		if most := max(maxFiles, larger[dir]); n > most {
			t.Errorf("%s has %d files, more than %d: it hides a package", dir, n, most)
		}
	}
}

// walkSources calls f with each source file of the repository, by its path
// from the root.
func walkSources(t *testing.T, f func(path string, src []byte)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "testdata" || name == "node_modules" || name == "target" || name == "dist" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		f(filepath.ToSlash(rel), src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
