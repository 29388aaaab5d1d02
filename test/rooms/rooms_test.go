// Package rooms_test checks that rooms of earlier versions still read. The
// archive testdata/3f4c90a.tar.gz is a data folder that the version 3f4c90a
// wrote: a completed room, a one-to-one room that a limit stopped, a room that
// a person paused with Ctrl-C, the module of their policies, and the keys and
// peers of a device. exports holds the rooms as that version exported them.
package rooms_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main})
}

// TestRoomsOfEarlierVersions runs moot on an unpacked copy of the archive.
func TestRoomsOfEarlierVersions(t *testing.T) {
	archive, err := filepath.Abs(filepath.Join("testdata", "3f4c90a.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir() // shared by the scripts: the old policies are compiled once
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("MOOT_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("ENDED", "r_01m81113z1mtj683ttsb818ff7")
			env.Setenv("ONETOONE", "r_01m81114skxrpr62adh62ntb38")
			env.Setenv("PAUSED", "r_01m811162j3xnjz9pcvf2e4k6c")
			return unpack(archive, env.WorkDir)
		},
	})
}

// unpack writes the files of a compressed archive into dir.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			err = write(path, r)
		}
		if err != nil {
			return err
		}
	}
}

func write(path string, content io.Reader) error {
	b, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
