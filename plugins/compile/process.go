package compile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
	"github.com/folkmoot/moot/plugins/wasm"
)

// Limits of the child process.
const (
	DefCPUTime  = 5 * time.Second // of the processor
	wallFactor  = 6               // wall time is so many times that, for busy machines
	maxChildMem = 1 << 30         // bytes
)

func (c *Compiler) newJob(where string, module []byte) job {
	t := c.config.CPUTime
	return job{
		Where: where, Size: len(module), MemoryBytes: maxChildMem,
		CPUSeconds: uint64((t + time.Second - 1) / time.Second), WallSeconds: int64(t*wallFactor/time.Second) + 1,
	}
}

// compileInChild compiles a module in a child process, and records the result.
func (e *engine) compileInChild(ctx context.Context, j job, module []byte, m *wasm.Metered) ([]byte, error) {
	if e.cache != nil {
		j.Cache = e.dir
	}
	initial, entry, err := runChild(ctx, j, module, m)
	if err != nil {
		return nil, err
	}
	if e.cache != nil && !hasEntry(e.dir, entry) {
		return nil, &guest.Error{Code: guest.CodeCompile, Where: j.Where, What: "the compiled code is not in the cache", Fix: "see that no other program removes files from " + e.dir}
	}
	e.store(m, entry, initial)
	return initial, nil
}

// runChild runs one child to its end.
func runChild(ctx context.Context, j job, module []byte, m *wasm.Metered) (initial []byte, entry string, err error) {
	exe, err := ownExecutable()
	if err != nil {
		return nil, "", spawnError(j, err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(j.WallSeconds+1)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(limited, exe)
	cmd.Env = []string{childEnv + "=1", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts no program without the latter
	cmd.Stdin = bytes.NewReader(appendFrame(nil, j, module))
	out := boundedBuffer{limit: guest.MaxMemoryPages<<16 + 1<<20}
	log := boundedBuffer{limit: 8 << 10}
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, "", childError(j, cmd, limited.Err() != nil, log.b, err)
	}
	return readReport(j, out.b, m)
}

// ownExecutable returns the file of this program, also when it was replaced or
// removed.
func ownExecutable() (string, error) {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe", nil
		}
	}
	return os.Executable()
}

func spawnError(j job, err error) error {
	return &guest.Error{
		Code: guest.CodeUntrusted, Where: j.Where, What: "a process to compile it in cannot be started: " + guest.Clip(err.Error()),
		Fix: "use a built-in policy, or let this program start processes", Err: err,
	}
}

// outOfMemory matches what Go's runtime, or the thread library, says when a
// process can get no more memory.
var outOfMemory = regexp.MustCompile("out of memory|cannot allocate memory|pthread_create failed|failed to create new OS thread")

// childError says why a child ended without a report.
func childError(j job, cmd *exec.Cmd, killed bool, log []byte, err error) error {
	e := &guest.Error{Code: guest.CodeCompile, Where: j.Where, Fix: "build a smaller module", Err: err}
	if cmd.ProcessState == nil {
		return spawnError(j, err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	text := string(log)
	tooSlow := killed || cmd.ProcessState.ExitCode() == childTooSlow || strings.Contains(text, "SIGXCPU") || used >= time.Duration(j.CPUSeconds)*time.Second*9/10
	switch {
	case outOfMemory.MatchString(text):
		e.What = fmt.Sprintf("compiling it takes more than %d MiB of memory", j.MemoryBytes>>20)
	case tooSlow:
		e.What = fmt.Sprintf("compiling it takes more than %d s", j.CPUSeconds)
	default:
		e.What = "the process that compiles it failed: " + guest.Clip(err.Error()+": "+guest.FirstLine(text))
		e.Fix = "report it, with the module"
	}
	return e
}

func readReport(j job, out []byte, m *wasm.Metered) (initial []byte, entry string, err error) {
	bad := &guest.Error{Code: guest.CodeCompile, Where: j.Where, What: "the process that compiles it gave no report", Fix: "report it, with the module"}
	_, out, ok := bytes.Cut(out, []byte(reportMagic))
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
		return nil, "", &guest.Error{Code: r.Code, Where: j.Where, What: r.What, Fix: r.Fix}
	case !pool.ValidSnapshot(body, m):
		bad.What = "the process that compiles it gave a damaged snapshot"
		return nil, "", bad
	case len(body) == 0:
		return nil, r.Entry, nil
	}
	return body, r.Entry, nil
}

// A boundedBuffer keeps the first limit bytes that are written to it.
type boundedBuffer struct {
	b     []byte
	limit int
}

func (w *boundedBuffer) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.limit-len(w.b))]...)
	return len(b), nil
}
