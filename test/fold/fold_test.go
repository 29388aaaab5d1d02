package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// TestFoldsAlike folds every log that the repository keeps: on this machine, and in
// WebAssembly by the compiler and by the interpreter. All states are equal, byte for
// byte.
func TestFoldsAlike(t *testing.T) {
	logs := keptLogs(t)
	var native bytes.Buffer
	if err := fold(bytes.NewReader(logs), &native); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(native.String(), "\n"); n < 40 {
		t.Fatalf("only %d digests of all logs", n)
	}
	module := build(t)
	for name, engine := range map[string]wazero.RuntimeConfig{"compiler": wazero.NewRuntimeConfigCompiler(), "interpreter": wazero.NewRuntimeConfigInterpreter()} {
		t.Run(name, func(t *testing.T) {
			compare(t, runModule(t, engine, module, logs), native.String())
		})
	}
}

// compare reports the first line that differs.
func compare(t *testing.T, got, want string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("digest %d is %q, and %q on this machine", i+1, g[min(i, len(g)-1)], w[min(i, len(w)-1)])
		}
	}
}

// build builds the command for WebAssembly.
func build(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "fold.wasm")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// runModule runs the command with the logs as its input, and returns its output.
func runModule(t *testing.T, engine wazero.RuntimeConfig, module, logs []byte) string {
	r := wazero.NewRuntimeWithConfig(t.Context(), engine)
	defer r.Close(t.Context())
	if _, err := wasi_snapshot_preview1.Instantiate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	provideHost(t, r, compiled)
	var out, problems bytes.Buffer
	cfg := wazero.NewModuleConfig().WithStdin(bytes.NewReader(logs)).WithStdout(&out).WithStderr(&problems)
	if _, err := r.InstantiateModule(t.Context(), compiled, cfg); err != nil { // it exits with 0, which is no error
		t.Fatalf("%v\n%s", err, &problems)
	}
	return out.String()
}

// provideHost provides the functions of the host that the contract of policies imports.
// Nothing calls them.
func provideHost(t *testing.T, r wazero.Runtime, compiled wazero.CompiledModule) {
	host := r.NewHostModuleBuilder("roompolicy")
	for _, f := range compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "roompolicy" {
			fail := api.GoModuleFunc(func(context.Context, api.Module, []uint64) { panic("a fold has called " + name) })
			host.NewFunctionBuilder().WithGoModuleFunction(fail, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	if _, err := host.Instantiate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// keptLogs returns the logs that the repository keeps, as fold reads them: the
// recordings of package room, exported rooms, and rooms of earlier versions.
func keptLogs(t *testing.T) []byte {
	var logs bytes.Buffer
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if n := d.Name(); n == "node_modules" || n == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		switch name := filepath.ToSlash(path[len(root)+1:]); {
		case strings.HasPrefix(name, "room/testdata/recordings/"):
			return add(&logs, name, path, stored)
		case strings.HasSuffix(name, ".jsonl"):
			return add(&logs, name, path, exported)
		case strings.HasPrefix(name, "test/rooms/testdata/") && strings.HasSuffix(name, ".tar.gz"):
			return addArchive(&logs, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs.Bytes()
}

// add adds the events of a file.
func add(logs *bytes.Buffer, name, path string, of func(line string) (event string)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return addLines(logs, name, string(b), of)
}

// addLines adds events, and begins a room at each first event.
func addLines(logs *bytes.Buffer, name, text string, of func(line string) (event string)) error {
	rooms := 0
	for line := range strings.Lines(text) {
		event := of(strings.TrimSuffix(line, "\n"))
		if event == "" {
			continue
		}
		var e struct{ Seq int64 }
		if err := json.Unmarshal([]byte(event), &e); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if e.Seq == 1 {
			rooms++
			fmt.Fprintf(logs, "room %s/%d\n", name, rooms)
		}
		logs.WriteString(event + "\n")
	}
	return nil
}

// stored returns the event of a line of a recording, which also has other lines.
func stored(line string) string {
	if strings.HasPrefix(line, `{"v":1,`) {
		return line
	}
	return ""
}

// exported returns the event of a line of an exported room, "" for other files.
func exported(line string) string {
	var e struct {
		Event json.RawMessage `json:"event"`
	}
	if !strings.HasPrefix(line, `{"event":{"v":1,`) || json.Unmarshal([]byte(line), &e) != nil {
		return ""
	}
	return string(e.Event)
}

// addArchive adds the exported rooms of a compressed archive.
func addArchive(logs *bytes.Buffer, path string) error {
	f, err := os.Open(path)
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
		if !strings.HasSuffix(h.Name, ".jsonl") {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := addLines(logs, filepath.Base(path)+"/"+h.Name, string(b), exported); err != nil {
			return err
		}
	}
}
