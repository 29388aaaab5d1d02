package page

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPage runs the tests of the page in Chromium. They are a module of their own, so
// that users of moot do not depend on what drives the browser.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser and many servers")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the tests of the page need Chromium: install chromium")
		}
		t.Skip("Chromium is not installed")
	}
	root := filepath.Join("..", "..")
	openSources(t, root)
	limit := time.Hour
	if end, ok := t.Deadline(); ok {
		limit = time.Until(end) - 30*time.Second // so that its goroutines are printed, not those of this test
	}
	cmd := exec.Command("go", "test", "-timeout", limit.String(), "./...")
	cmd.Dir = filepath.Join(root, "test", "browser")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// openSources opens all that the tests are made of. So the go command, which keeps
// results of tests with the files that they have opened, runs them again after a change.
func openSources(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".mod", ".js", ".css", ".html", ".svg", ".json", ".md", ".gz"}, filepath.Ext(path)) {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
