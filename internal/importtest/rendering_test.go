package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// renders lists the packages that may render a prompt: the hosts of agents.
// Endpoints and adapters hand the text on.
const renders = "endpoints/endpoint room/coordinator endpoints/relay/share endpoints/relay/hold endpoints/check endpoints/endpointtest"

// TestOneRendering checks that no other package renders a prompt.
func TestOneRendering(t *testing.T) {
	call := regexp.MustCompile(`endpoint\.Rendered\(`)
	root, found := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !call.Match(b) {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && !matchAny(renders, filepath.ToSlash(rel)) {
			t.Errorf("%s renders a prompt", path)
		}
		found++
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d calls found, %v", found, err)
	}
}
