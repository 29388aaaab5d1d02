package moot

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestEmbedding runs the examples of embedding in their own module, as another
// program would.
func TestEmbedding(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = "test/embedding"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestPrintedPrograms compares the programs that the pages print with the one
// that is tested.
func TestPrintedPrograms(t *testing.T) {
	program, err := os.ReadFile("test/embedding/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"docs/embedding.md", "README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(block[1], "moot.Open(") && block[1] != string(program) {
				t.Errorf("%s prints a program that is not test/embedding/main.go", page)
			}
		}
	}
}
