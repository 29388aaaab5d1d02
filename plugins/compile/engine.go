package compile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// wazero keeps compiled code in a folder only, under names that it does not
// tell, and runs what it finds there. So each module is compiled in an empty
// folder of its own: the file in it afterwards is the code. To load it, the
// file is put into another empty folder.

// compileIn compiles a module in an empty folder. It returns the code and the
// name of its file in the folder. It ends soon after ctx is done.
func compileIn(ctx context.Context, folder, where string, m *wasm.Metered) (*pool.Code, string, error) {
	r, err := openRuntime(folder)
	if err != nil {
		return nil, "", err
	}
	code, err := pool.Compile(ctx, r, guest.EngineCompiler, where, m, pool.Workers())
	if err != nil {
		return nil, "", err
	}
	name, err := onlyFile(folder)
	if err != nil {
		return nil, "", errors.Join(err, code.Close())
	}
	return code, name, nil
}

// openRuntime opens the compiler with the folder as its cache.
func openRuntime(folder string) (wazero.Runtime, error) {
	files, err := wazero.NewCompilationCacheWithDir(folder)
	if err != nil {
		return nil, err
	}
	return guest.OpenRuntime(context.Background(), guest.EngineCompiler, files)
}

// onlyFile returns the one file of a folder, as folder/name.
func onlyFile(folder string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return "", err
	}
	if len(paths) != 1 {
		return "", fmt.Errorf("the engine left %d files and not one", len(paths))
	}
	name, err := filepath.Rel(folder, paths[0])
	return filepath.ToSlash(name), err
}

// readCode reads compiled code from a folder.
func readCode(folder, name string) ([]byte, error) {
	if !validName(name) {
		return nil, errEntry
	}
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCode+1))
	if err == nil && len(b) > maxCode {
		err = fmt.Errorf("the compiled code has more than %d MiB", maxCode>>20)
	}
	return b, err
}

// load makes the code of an entry runnable and removes it from the entry: it is
// megabytes, which the engine reads again. The engine finds it and compiles nothing.
func (c *cache) load(ctx context.Context, where string, m *wasm.Metered, e *entry) (*pool.Code, error) {
	folder, err := c.workFolder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, filepath.FromSlash(e.Name))
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, e.code, 0o600); err != nil {
		return nil, err
	}
	e.Name, e.code = "", nil
	r, err := openRuntime(folder)
	if err != nil {
		return nil, err
	}
	return pool.Compile(ctx, r, guest.EngineCompiler, where, m, 1)
}

// probe is a module with one empty function.
const probe = "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b"

// engineIdentity tells which compiled code this process can run. wazero derives
// the name of the code from the module, its own version and settings, and the
// features of the processor. So the name that it gives to the probe stands for
// all but the module: with the same identity it finds code under its name, and
// with another there is no entry that it could fail to find and then compile.
func engineIdentity(dir, engine string) (string, error) {
	identity := engine + " " + guest.WazeroVersion
	if engine != guest.EngineCompiler {
		return identity, nil
	}
	folder, err := os.MkdirTemp(dir, workPrefix)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()
	r, err := openRuntime(folder)
	if err != nil {
		return "", err
	}
	defer r.Close(ctx)
	if _, err := r.CompileModule(ctx, []byte(probe)); err != nil {
		return "", err
	}
	name, err := onlyFile(folder)
	return identity + " " + name, err
}
