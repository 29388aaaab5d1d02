package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/room/log/sqlite"
)

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name                 string
		application, version int
		code                 string
	}{
		{"newer", sqlite.ApplicationID, 1000, "LOG-NEWER"},
		{"another program's", 77, 1, "LOG-FOREIGN"},
	} {
		dir := t.TempDir()
		if err := open(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		sqlite.SetVersion(t, dir, c.application, c.version)
		for _, readOnly := range []bool{false, true} {
			_, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: readOnly})
			if code(err) != c.code {
				t.Errorf("%s, read-only %v: %v", c.name, readOnly, err)
			}
		}
	}
}

// TestOlderLog checks that a log of an older schema is migrated.
func TestOlderLog(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	sqlite.Age(t, dir)
	if _, err := openLog(t, dir).Imported(t.Context(), "r"); err != nil {
		t.Error(err)
	}
}

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, sqlite.FileName)
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(sqlite.Config{Dir: dir}); code(err) != "LOG-CORRUPT" {
		t.Errorf("a file of zeros: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(sqlite.Config{Dir: dir}); code(err) != "LOG-OPEN" {
		t.Errorf("a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(sqlite.Config{Dir: file}); err == nil || code(err) == "NONE" {
		t.Errorf("a data folder that is a file: %v", err)
	}
}
