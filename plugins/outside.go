package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/folkmoot/moot/plugins/wasm"
	"github.com/tetratelabs/wazero"
)

// Bounds of the child that compiles a third-party module.
const (
	DefCompileTime   = 5 * time.Second // of the processor's time
	compileWall      = 6               // times that, by the clock: the machine may be busy
	maxCompileMemory = 1 << 30
)

// An outside is where third-party modules run: a runtime whose cache only
// children write to.
type outside struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	dir     string
	own     bool // dir is ours, and goes with the host

	children int // started so far; guarded by Host.child
}

func (h *Host) newOutside() (*outside, error) {
	o := &outside{dir: h.config.CacheDir}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "moot-policies-")
		if err != nil {
			return nil, fmt.Errorf("making a cache: %w", err)
		}
		o.dir, o.own = dir, true
	}
	ctx := context.Background()
	rc, engine := runtimeConfig(h.config.Interpreter)
	if engine == EngineCompiler {
		cache, err := wazero.NewCompilationCacheWithDir(o.dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening the cache: %w", err), o.close())
		}
		o.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	o.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	if err := instantiateImports(ctx, o.runtime); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *outside) close() error {
	var errs []error
	if o.runtime != nil {
		errs = append(errs, o.runtime.Close(context.Background()))
	}
	if o.cache != nil {
		errs = append(errs, o.cache.Close(context.Background()))
	}
	if o.own {
		errs = append(errs, os.RemoveAll(o.dir))
	}
	return errors.Join(errs...)
}

// outsideCode has a child check, initialise and compile a module, unless one of
// this program did so before, and takes what it left. One child runs at a time.
func (h *Host) outsideCode(ctx context.Context, p *Policy, module []byte) (*code, error) {
	metered, err := check(p.name, module)
	if err != nil {
		return nil, err
	}
	o, err := h.outside()
	if err != nil {
		return nil, &Error{Code: CodeCache, Where: p.name, What: clip(err.Error()), Fix: "free space in the folder for temporary files, or name a cache", Err: err}
	}
	select {
	case h.child <- struct{}{}:
		defer func() { <-h.child }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c := &code{digest: p.digest, metered: metered, runtime: o.runtime}
	j := h.job(p.name, module)
	if o.cache != nil {
		j.Cache = o.dir
	}
	var ok bool
	if c.base, ok = o.recall(metered); !ok {
		if c.base, err = o.prepare(ctx, j, module, metered); err != nil {
			return nil, err
		}
	}
	// This reads what the child compiled, with this same program, from these
	// same bytes.
	if c.compiled, err = compile(ctx, o.runtime, p.name, metered, 1); err != nil {
		return nil, err
	}
	metered.Whole, metered.Bare = nil, nil
	return c, nil
}

// prepare has a child prepare a module, and notes what it left.
func (o *outside) prepare(ctx context.Context, j job, module []byte, m *wasm.Metered) ([]byte, error) {
	o.children++
	base, entry, err := runChild(ctx, j, module, m)
	if err != nil {
		return nil, err
	}
	if o.cache != nil && !cached(o.dir, entry) {
		return nil, &Error{Code: CodeCompile, Where: j.Where, What: "what was compiled is not in the cache", Fix: "see that nothing else removes files from " + o.dir}
	}
	o.note(m, entry, base)
	return base, nil
}

func (h *Host) job(where string, module []byte) job {
	t := h.config.CompileTime
	if t <= 0 {
		t = DefCompileTime
	}
	return job{
		Where: where, Size: len(module), MemoryBytes: maxCompileMemory, Workers: runtime.GOMAXPROCS(0),
		CPUSeconds: uint64((t + time.Second - 1) / time.Second), WallSeconds: int64(t*compileWall/time.Second) + 1,
	}
}

func cached(dir, entry string) bool {
	st, err := os.Stat(filepath.Join(dir, entry))
	return validEntry(entry) && err == nil && st.Mode().IsRegular()
}

// runChild runs one child to its end.
func runChild(ctx context.Context, j job, module []byte, m *wasm.Metered) ([]byte, string, error) {
	exe, err := self()
	if err != nil {
		return nil, "", noChild(j, err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(j.WallSeconds+1)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(limited, exe)
	cmd.Env = []string{childEnv + "=1", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts nothing without the latter
	cmd.Stdin = bytes.NewReader(frame(j, module))
	var out, log bounded
	out.most, log.most = MaxMemoryPages<<16+1<<20, 8<<10
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, "", childFailed(j, cmd, limited.Err() != nil, log.b, err)
	}
	return readReport(j, out.b, m)
}

// self is this program, also when its file was replaced or removed.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe", nil
		}
	}
	return os.Executable()
}

func noChild(j job, err error) error {
	return &Error{
		Code: CodeUntrusted, Where: j.Where, What: "a process to compile it in cannot be started: " + clip(err.Error()),
		Fix: "use a built-in policy, or let this program start processes", Err: err,
	}
}

// outOfMemory reads what a process says that may have no more memory: the
// runtime's own words, or, when it wanted memory for a thread's stack, those of
// whoever makes threads.
func outOfMemory(text string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// childFailed tells why a child ended without a report.
func childFailed(j job, cmd *exec.Cmd, killed bool, log []byte, err error) error {
	e := &Error{Code: CodeCompile, Where: j.Where, Fix: "build a smaller module", Err: err}
	if cmd.ProcessState == nil {
		return noChild(j, err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	text := string(log)
	switch {
	case outOfMemory(text):
		e.What = fmt.Sprintf("compiling it takes more than %d MiB of memory", j.MemoryBytes>>20)
	case killed || cmd.ProcessState.ExitCode() == childTooSlow || used >= time.Duration(j.CPUSeconds)*time.Second*9/10:
		e.What = fmt.Sprintf("compiling it takes more than %d s", j.CPUSeconds)
	default:
		e.What = "the process that compiles it failed: " + clip(err.Error()+": "+firstLine(text))
		e.Fix = "report it, with the module"
	}
	return e
}

func readReport(j job, out []byte, m *wasm.Metered) ([]byte, string, error) {
	bad := &Error{Code: CodeCompile, Where: j.Where, What: "the process that compiles it gave no report", Fix: "report it, with the module"}
	_, out, ok := bytes.Cut(out, []byte(childMagic))
	if !ok {
		return nil, "", bad
	}
	var r report
	body, err := readFrame(bytes.NewReader(out), &r, func() int { return r.Image }, len(out))
	switch {
	case err != nil:
		bad.Err = err
		return nil, "", bad
	case r.Code != "":
		return nil, "", &Error{Code: r.Code, Where: j.Where, What: r.What, Fix: r.Fix}
	case r.Image == 0 && !m.Rewindable:
		return nil, r.Entry, nil
	}
	if _, err := readImage(body, len(m.Mutable)); err != nil {
		bad.What, bad.Err = "the process that compiles it gave a damaged image", err
		return nil, "", bad
	}
	return body, r.Entry, nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	b    []byte
	most int
}

func (w *bounded) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	return len(b), nil
}
