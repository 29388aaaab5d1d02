package authoring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/plugins"
)

// noToolchain is the exit code of a build script whose compiler is missing.
const noToolchain = 3

// ErrToolchain is the kind of the error of a build whose compiler is missing.
var ErrToolchain = errors.New("the compiler is missing")

// Build runs the folder's build.sh, embeds the manifest and the digest of the
// sources in the module, and returns the module. The errors are POL-TOOLCHAIN,
// of the kind ErrToolchain, and POL-BUILD. After POL-BUILD the output of the
// compiler goes to output.
func (f *Folder) Build(ctx context.Context, output io.Writer) ([]byte, error) {
	digest, err := f.Sources()
	if err != nil {
		return nil, err
	}
	if err := f.runScript(ctx, output); err != nil {
		return nil, err
	}
	module, err := os.ReadFile(f.Path(moduleFile))
	if err != nil {
		return nil, pack.Refuse("POL-BUILD", f.Path(scriptFile), "let it write "+moduleFile, "the build ended well and there is no %s", moduleFile)
	}
	if len(module) > plugins.MaxModule {
		return nil, pack.Refuse("POL-BUILD", f.Path(moduleFile), "build without debug information, and use less of the language's library",
			"the module has %d bytes; at most %d", len(module), plugins.MaxModule)
	}
	module, err = pack.Embed(module, pack.SectionSources, []byte(digest))
	if err == nil {
		module, err = pack.EmbedManifest(module, f.Manifest) // the last section, as in a pack
	}
	if err != nil {
		return nil, pack.Refuse("POL-BUILD", f.Path(moduleFile), "let "+scriptFile+" write a WebAssembly module", "what was built is refused: %v", err)
	}
	if err := replaceFile(f.Path(moduleFile), module); err != nil {
		return nil, pack.Refuse("POL-BUILD", f.Path(moduleFile), "let the folder be writable", "the module cannot be written: %s", pack.Reason(err))
	}
	return module, nil
}

// Module returns the folder's module. It builds the module if the sources
// changed, and calls building before the build.
func (f *Folder) Module(ctx context.Context, output io.Writer, building func()) ([]byte, error) {
	module, fresh, err := f.Built()
	if err != nil || fresh {
		return module, err
	}
	building()
	return f.Build(ctx, output)
}

func (f *Folder) runScript(ctx context.Context, output io.Writer) error {
	script := f.Path(scriptFile)
	if _, err := os.Stat(script); err != nil {
		return pack.Refuse("POL-BUILD", script, "copy the one of a template: moot policy new", "the folder has no %s", scriptFile)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return noCompiler(script, "install a POSIX shell, or build "+moduleFile+" by hand", "there is no sh to run it with")
	}
	cmd := exec.CommandContext(ctx, shell, scriptFile)
	cmd.Dir = f.Dir
	cmd.Env = append(os.Environ(), "GOWORK=off") // the folder is a module of its own
	cmd.WaitDelay = 2 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == noToolchain:
		what, fix, _ := strings.Cut(lastLine(out.String()), ": ")
		return noCompiler(script, fix, "the policy cannot be built: "+what)
	case strings.Contains(out.String(), "go: not found"), strings.Contains(out.String(), "go: command not found"):
		return noCompiler(script, "install Go: https://go.dev/dl", "the policy cannot be built: no go")
	}
	_, _ = output.Write(out.Bytes()) // the returned error matters more
	return pack.Refuse("POL-BUILD", script, "fix what the compiler reports", "the build failed: %s: %v", lastLine(out.String()), err)
}

func noCompiler(script, fix, what string) error {
	e := pack.Refuse("POL-TOOLCHAIN", script, fix, "%s", what)
	e.Kind = ErrToolchain
	return e
}

// lastLine returns the last line of a compiler's output.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// replaceFile replaces a file atomically.
func replaceFile(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// Limits of the sources of a module.
const (
	maxSources     = 5000     // number of files
	maxSourceBytes = 64 << 20 // sum of their sizes
)

// Sources returns the digest of the names and bytes of the sources. Times do
// not matter.
func (f *Folder) Sources() (string, error) {
	h := sha256.New()
	files, left := 0, int64(maxSourceBytes)
	err := filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == f.Dir:
			return nil
		case !isSource(d.Name()) && d.IsDir():
			return fs.SkipDir
		case !isSource(d.Name()), !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(f.Dir, path)
		if err != nil {
			return err
		}
		if files++; files > maxSources {
			return fmt.Errorf("more than %d files", maxSources)
		}
		n, err := hashFile(h, filepath.ToSlash(name), path, left)
		left -= n
		return err
	})
	if err != nil {
		return "", pack.Refuse("POL-FOLDER", f.Dir, "keep only the policy's own files in its folder", "its sources cannot be read: %s", pack.Reason(err))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile adds the length of the name, the name and the digest of a file to h:
// different lists of files never add the same bytes.
func hashFile(h hash.Hash, name, path string, most int64) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	own := sha256.New()
	n, err := io.Copy(own, io.LimitReader(f, most+1))
	if err != nil {
		return n, err
	}
	if n > most {
		return n, fmt.Errorf("more than %d bytes", maxSourceBytes)
	}
	_, err = fmt.Fprintf(h, "%d %s %x\n", len(name), name, own.Sum(nil))
	return n, err
}
