package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

var _ = Serve("test", func(request io.Reader, reply io.Writer) error {
	b, err := io.ReadAll(request)
	if err != nil {
		return err
	}
	switch string(b) {
	case "loop":
		for i := 0; ; i++ {
			sink += i
		}
	case "memory":
		var all [][]byte
		for {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			sink += len(all)
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "panic":
		panic("at the disco")
	case "error":
		return errors.New("no luck")
	case "long":
		_, err = reply.Write(make([]byte, 4<<20))
		return err
	case "file":
		f, err := os.CreateTemp("", "")
		if err != nil {
			return err
		}
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 2<<20))
		return err
	}
	_, err = reply.Write(bytes.ToUpper(b))
	return err
})

var sink int

func run(t *testing.T, request string) (string, error) {
	t.Helper()
	reply, err := Run(t.Context(), Work{Name: "test", Request: []byte(request), Limits: Limits{CPU: time.Second, Memory: 128 << 20, File: 1 << 20}, MaxReply: 1 << 20})
	return string(reply), err
}

// TestRun: a worker process answers, and ends within each of its limits.
func TestRun(t *testing.T) {
	if got, err := run(t, "hello"); err != nil || got != "HELLO" {
		t.Errorf("%q, %v", got, err)
	}
	for request, want := range map[string]error{"loop": ErrTooSlow, "panic": ErrFailed, "error": ErrFailed, "long": ErrFailed, "file": ErrFailed} {
		if _, err := run(t, request); !errors.Is(err, want) || errors.As(err, new(*Error)) != (err != nil) {
			t.Errorf("%s: %v, want %v", request, err, want)
		}
	}
	if runtime.GOOS == "linux" && memoryFactor == 1 { // under the race detector its time ends first
		if _, err := run(t, "memory"); !errors.Is(err, ErrOutOfMemory) {
			t.Error(err)
		}
	}
	if _, err := run(t, "error"); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("the text is lost: %v", err)
	}
}

// TestRunSleeps: a worker that uses no processor time is ended.
func TestRunSleeps(t *testing.T) {
	w := Work{Name: "test", Request: []byte("sleep"), Limits: Limits{CPU: time.Minute, Memory: 1 << 30, Idle: 2 * time.Second}}
	if _, err := Run(t.Context(), w); !errors.Is(err, ErrIdle) {
		t.Error(err)
	}
}

// TestBusyMachine: a process that gets a thousandth of a processor is not idle,
// however long its work takes. One that gets none is, after 30 s.
func TestBusyMachine(t *testing.T) {
	w := idleWatch{most: 30}
	var used time.Duration
	for range 100_000 {
		used += time.Millisecond
		if w.tick(used) {
			t.Fatalf("idle after %v of the processor", used)
		}
	}
	w.tick(used + minProgress)
	for i := 1; i <= 30; i++ {
		if got := w.tick(used + minProgress + time.Duration(i)); got != (i == 30) {
			t.Errorf("idle is %v after %d s without progress", got, i)
		}
	}
}

// TestCallerGone: the process ends with its caller's context.
func TestCallerGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := Run(ctx, Work{Name: "test", Request: []byte("sleep"), Limits: Limits{CPU: time.Minute, Memory: 1 << 30}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestServeNeedsItsName: without the variable, or with that of other work, the
// program starts as usual.
func TestServeNeedsItsName(t *testing.T) {
	Serve("other", nil)
	if os.Getenv(variable) != "" {
		t.Error("this is a worker")
	}
}

// FuzzReadFrame: no frame, from a worker or to it, is read beyond its limits.
func FuzzReadFrame(f *testing.F) {
	type header struct{ Size int }
	f.Add(AppendFrame(nil, header{3}, []byte("abc")))
	f.Add(AppendFrame(nil, header{}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h header
		body, err := ReadFrame(bytes.NewReader(b), &h, func() int { return h.Size }, 1<<10)
		if err == nil && (len(body) != h.Size || len(body) > 1<<10) {
			t.Errorf("%d bytes for %d", len(body), h.Size)
		}
	})
}

// TestOutOfMemory: the garbage collector of Go 1.26 says in its own way that it gets
// no memory. A fault of the work itself is another matter.
func TestOutOfMemory(t *testing.T) {
	for log, want := range map[string]bool{
		"fatal error: runtime: out of memory": true,
		"SIGSEGV: segmentation violation\nPC=0x4352dd m=7 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x2487 m=7 mp=0x2487 [idle]:\nruntime.(*spanQueue).tryDrain(0x7f5b)\n":         true,
		"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1]\n\ngoroutine 1 [running]:\nmain.main()\n": false,
		"SIGSEGV: segmentation violation\nPC=0x1 m=0 sigcode=1 addr=0x0\n\ngoroutine 7 gp=0x1 m=0:\nmain.main()\n":                                                            false,
	} {
		if outOfMemory.MatchString(log) != want {
			t.Errorf("taken for a lack of memory: %t, want %t:\n%s", !want, want, log)
		}
	}
}
