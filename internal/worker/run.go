package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// A Work is what a worker process does.
type Work struct {
	Name     string // of a [Serve] in this program
	Request  []byte
	Limits   Limits
	MaxReply int // bytes
}

// Errors of [Run]. An [*Error] wraps one of them.
var (
	ErrNoProcess   = errors.New("a worker process cannot be started")
	ErrTooSlow     = errors.New("it takes too much time of the processor")
	ErrIdle        = errors.New("it used no time of the processor")
	ErrOutOfMemory = errors.New("it takes too much memory")
	ErrFailed      = errors.New("the worker process failed")
)

// An Error says why a worker process gave no reply.
type Error struct {
	Err  error  // one of the errors above
	Text string // what the process said, or the system; one line
}

// Error returns the reason and its cause.
func (e *Error) Error() string {
	if e.Text == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Run does the work in a worker process and returns its reply. Errors are ctx's
// or [*Error]. The process has ended when Run returns.
func Run(ctx context.Context, w Work) ([]byte, error) {
	exe, err := ownExecutable()
	if err != nil {
		return nil, &Error{ErrNoProcess, err.Error()}
	}
	limits, err := json.Marshal(w.Limits)
	if err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = []string{variable + "=" + w.Name, "TMPDIR=" + os.TempDir(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts no program without the latter
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(limits, '\n')), bytes.NewReader(w.Request))
	out := boundedBuffer{limit: w.MaxReply + 1<<20}
	log := boundedBuffer{limit: 8 << 10}
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = 30 * time.Second // a busy machine needs more than one for what is left in the pipes
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, failure(w.Limits, cmd, string(log.b), err)
	}
	_, reply, ok := bytes.Cut(out.b, []byte(magic))
	if !ok || len(reply) > w.MaxReply {
		return nil, &Error{ErrFailed, "it gave no reply, or one that is too long"}
	}
	return reply, nil
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

// outOfMemory matches what Go's runtime, or the thread library, says when a
// process can get no more memory. The garbage collector of Go 1.26 does not check
// every allocation of its own, and then faults on the system stack ("goroutine 0").
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|pthread_create failed|failed to create new OS thread` +
	`|^SIGSEGV: segmentation violation\n.*\n\ngoroutine 0 .*\nruntime\.`)

// failure says why a worker process ended without a reply.
func failure(l Limits, cmd *exec.Cmd, log string, err error) error {
	state := cmd.ProcessState
	if state == nil {
		return &Error{ErrNoProcess, err.Error()}
	}
	used := state.UserTime() + state.SystemTime()
	switch {
	case outOfMemory.MatchString(log):
		return &Error{Err: ErrOutOfMemory}
	case strings.Contains(log, "SIGXCPU") || used >= l.CPU*9/10 || state.ExitCode() == exitTooSlow:
		return &Error{Err: ErrTooSlow}
	case state.ExitCode() == exitIdle:
		return &Error{Err: ErrIdle}
	}
	first, _, _ := strings.Cut(log, "\n")
	return &Error{ErrFailed, strings.ToValidUTF8(err.Error()+": "+first[:min(len(first), 200)], "\uFFFD")}
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
