package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrite: both functions replace a file with mode 0600 and leave nothing
// else in the folder, also after an error.
func TestWrite(t *testing.T) {
	for name, write := range map[string]func(string, []byte) error{"Write": Write, "WriteDurable": WriteDurable} {
		dir := filepath.Join(t.TempDir(), "new")
		path := filepath.Join(dir, "file")
		for _, text := range []string{"first", "second"} {
			if err := write(path, []byte(text)); err != nil {
				t.Fatal(name, err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != text {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
		if err := write(dir, nil); err == nil {
			t.Errorf("%s has replaced a folder", name)
		}
		for at, want := range map[string]int{dir: 1, filepath.Dir(dir): 1} {
			if entries, err := os.ReadDir(at); err != nil || len(entries) != want {
				t.Errorf("%s left %v, %v", name, entries, err)
			}
		}
	}
}
