package authoring

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
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
		return nil, refuse("POL-BUILD", f.Path(scriptFile), "let it write "+moduleFile, "the build ended well and there is no %s", moduleFile)
	}
	if len(module) > plugins.MaxModule {
		return nil, refuse("POL-BUILD", f.Path(moduleFile), "build without debug information, and use less of the language's library",
			"the module has %d bytes; at most %d", len(module), plugins.MaxModule)
	}
	module, err = pack.Embed(module, pack.SectionSources, []byte(digest))
	if err == nil {
		module, err = pack.EmbedManifest(module, f.Manifest) // the last section, as in a pack
	}
	if err != nil {
		return nil, refuse("POL-BUILD", f.Path(moduleFile), "let "+scriptFile+" write a WebAssembly module", "what was built is refused: %v", err)
	}
	if err := replaceFile(f.Path(moduleFile), module); err != nil {
		return nil, refuse("POL-BUILD", f.Path(moduleFile), "let the folder be writable", "the module cannot be written: %s", reason(err))
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
		return refuse("POL-BUILD", script, "copy the one of a template: moot policy new", "the folder has no %s", scriptFile)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		e := refuse("POL-TOOLCHAIN", script, "install a POSIX shell, or build "+moduleFile+" by hand", "there is no sh to run it with")
		e.Kind = ErrToolchain
		return e
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
		e := refuse("POL-TOOLCHAIN", script, fix, "the policy cannot be built: %s", what)
		e.Kind = ErrToolchain
		return e
	case strings.Contains(out.String(), "go: not found"), strings.Contains(out.String(), "go: command not found"):
		e := refuse("POL-TOOLCHAIN", script, "install Go: https://go.dev/dl", "the policy cannot be built: no go")
		e.Kind = ErrToolchain
		return e
	}
	_, _ = output.Write(out.Bytes()) // the returned error matters more
	return refuse("POL-BUILD", script, "fix what the compiler reports", "the build failed: %s: %v", lastLine(out.String()), err)
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
