//go:build unix

package spawn

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/problem"
)

// hostVar makes this test binary act as a host that starts a script and waits.
const hostVar = "SPAWN_TEST_HOST"

func TestMain(m *testing.M) {
	if script := os.Getenv(hostVar); script != "" {
		p, err := Start(Config{Command: []string{"sh", "-c", script}})
		if err != nil {
			panic(err)
		}
		io.Copy(os.Stdout, p.Stdout())
		select {}
	}
	goleak.VerifyTestMain(m)
}

// TestHostDies kills a host and checks that its agent and the children of the
// agent end, although they ignore that their standard input is closed.
func TestHostDies(t *testing.T) {
	for name, script := range map[string]string{
		"agent": `trap "" TERM HUP; echo $$; exec sleep 600`,
		"child": `sh -c 'trap "" TERM HUP; echo $$; exec sleep 600' & wait`,
	} {
		t.Run(name, func(t *testing.T) { gone(t, killHost(t, script)) })
	}
}

// killHost lets another process start a script, kills that process once the
// script has written a pid, and returns the pid.
func killHost(t *testing.T, script string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self)
	host.Env = append(os.Environ(), hostVar+"="+script)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := bufio.NewReader(out).ReadString('\n')
	if killErr := host.Process.Kill(); err != nil || killErr != nil {
		t.Fatal(err, killErr)
	}
	_ = host.Wait() // it was killed
	return strings.TrimSpace(pid)
}

// start runs a script of sh and closes it when the test ends.
func start(t *testing.T, script string, change ...func(*Config)) *Process {
	t.Helper()
	cfg := Config{Command: []string{"sh", "-c", script}, Dir: t.TempDir()}
	for _, f := range change {
		f(&cfg)
	}
	p, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(0, 0) })
	return p
}

func output(t *testing.T, p *Process) string {
	t.Helper()
	b, err := io.ReadAll(p.Stdout())
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(b)
}

func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "planted")
	t.Setenv("LC_TIME", "C")
	t.Setenv("EXTRA_ONE", "1")
	t.Setenv("NAMED", "2")
	var dir string
	p := start(t, "env; pwd", func(c *Config) {
		dir = c.Dir
		c.Env = []string{"TOKEN=first-value", "TOKEN=second-value"}
		c.AllowEnv = []string{"EXTRA_*", "NAMED"}
	})
	got := output(t, p)
	for _, want := range []string{"PATH=", "LC_TIME=C", "EXTRA_ONE=1", "NAMED=2", "TOKEN=second-value", "PWD=" + dir} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"planted", "first-value"} {
		if strings.Contains(got, no) {
			t.Errorf("%q reached the child", no)
		}
	}
}

func TestNoDescriptorLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are listed with /proc, which this system has not")
	}
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0) // not sealed, as one from our own parent
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	p := start(t, "ls -l /proc/$$/fd; :")
	got := output(t, p)
	for line := range strings.Lines(got) {
		if _, link, ok := strings.Cut(line, " -> "); ok && !strings.HasPrefix(link, "pipe:") {
			t.Errorf("the child has %s", line)
		}
	}
	if n := strings.Count(got, " -> "); n != 3 {
		t.Errorf("%d descriptors, want 3:\n%s", n, got)
	}
}

func TestStartProblems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain.sh", "#!/bin/sh\n", 0o644)
	write("nointerp", "#!/nowhere/sh\n", 0o755)
	write("noformat", "just text\n", 0o755)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		code string
		is   error
	}{
		"none":        {Config{}, "AGENT-COMMAND", nil},
		"bare":        {Config{Command: []string{"no-such-agent-here"}}, "AGENT-NOTFOUND", fs.ErrNotExist},
		"path":        {Config{Command: []string{"./missing"}, Dir: dir}, "AGENT-NOTFOUND", fs.ErrNotExist},
		"mode":        {Config{Command: []string{"./plain.sh"}, Dir: dir}, "AGENT-NOTEXEC", fs.ErrPermission},
		"folder":      {Config{Command: []string{dir}}, "AGENT-NOTEXEC", syscall.EISDIR},
		"interpreter": {Config{Command: []string{"./nointerp"}, Dir: dir}, "AGENT-NOTEXEC", fs.ErrNotExist},
		"format":      {Config{Command: []string{"./noformat"}, Dir: dir}, "AGENT-NOTEXEC", syscall.ENOEXEC},
		"cwd":         {Config{Command: []string{"sh"}, Dir: filepath.Join(dir, "x")}, "AGENT-CWD", fs.ErrNotExist},
		"cwd file":    {Config{Command: []string{"sh"}, Dir: filepath.Join(dir, "plain.sh")}, "AGENT-CWD", syscall.ENOTDIR},
		"cwd root":    {Config{Command: []string{"sh"}, Root: dir, Dir: ".."}, "AGENT-CWD", nil},
		"cwd abs":     {Config{Command: []string{"sh"}, Root: dir, Dir: outside}, "AGENT-CWD", nil},
		"cwd link":    {Config{Command: []string{"sh"}, Root: dir, Dir: "out"}, "AGENT-CWD", nil},
		"cwd nul":     {Config{Command: []string{"sh"}, Root: dir, Dir: "a\x00b"}, "AGENT-CWD", nil},
		"env":         {Config{Command: []string{"sh"}, Env: []string{"novalue"}}, "AGENT-ENV", nil},
		"env all":     {Config{Command: []string{"sh"}, AllowEnv: []string{"*"}}, "AGENT-ENV", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(c.cfg)
			var pe *problem.Error
			if !errors.As(err, &pe) || pe.Code != c.code || pe.Fix == "" {
				t.Fatalf("got %v, want %s with a fix", err, c.code)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
		})
	}
}

func TestRootAllowsSubfolder(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, "pwd", func(c *Config) { c.Root, c.Dir = root, "in" })
	if got := output(t, p); !strings.HasSuffix(got, "/in\n") {
		t.Errorf("started in %q", got)
	}
}

// TestGroupDies checks that the children of an agent that ended are killed,
// although they ignore SIGTERM and hold the pipes.
func TestGroupDies(t *testing.T) {
	p := start(t, `sh -c 'trap "" TERM HUP; echo $$; while :; do sleep 60; done' & read x <&0; exit 3`)
	line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.Stdin().Close()
	<-p.Done()
	if p.State() != "exit status 3" {
		t.Errorf("state %q", p.State())
	}
	gone(t, strings.TrimSpace(line))
}

// gone waits until a process is dead. Killed orphans may be zombies until their
// new parent reaps them.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		if errors.Is(syscall.Kill(n, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("process %d is still alive", n)
}

func zombie(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}

func TestTerminateKills(t *testing.T) {
	p := start(t, `trap "" TERM; echo ready; while :; do sleep 60; done`)
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.Terminate(20 * time.Millisecond)
	if p.State() != "signal: killed" {
		t.Errorf("state %q", p.State())
	}
}

func TestTerminateSendsSIGTERMFirst(t *testing.T) {
	p := start(t, `trap "exit 7" TERM; echo ready; while :; do sleep 0.02; done`)
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.Terminate(time.Minute)
	if p.State() != "exit status 7" {
		t.Errorf("state %q", p.State())
	}
}

func TestStderrTail(t *testing.T) {
	p := start(t, `i=0; while [ $i -lt 4000 ]; do echo "line $i $KEY" >&2; i=$((i+1)); done; printf '\033[31mred' >&2`,
		func(c *Config) { c.Env = []string{"KEY=hunter2hunter2"} })
	<-p.Done()
	got := p.Stderr()
	if len(got) > tailBytes || !strings.HasSuffix(got, "line 3999 [redacted]\nred") {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-60):])
	}
	if strings.Contains(got, "hunter2") {
		t.Error("the text contains a value of the environment")
	}
}

func TestLines(t *testing.T) {
	in := "one\n\n" + strings.Repeat("x", 100_000) + "\ntwo\r\n" + strings.Repeat("y", 70_000) + "\nhalf"
	l := NewLines(strings.NewReader(in), 70_000)
	var got []string
	for {
		b, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, strconv.Itoa(len(b)))
	}
	if !l.Cut() {
		t.Error("Cut is false for a truncated last line")
	}
	want := "3 0 " + ErrLong.Error() + " 4 70000 4"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEndlessLine checks that a line without end uses bounded memory.
func TestEndlessLine(t *testing.T) {
	l := NewLines(io.MultiReader(io.LimitReader(endless('x'), 1<<28), strings.NewReader("\nnext\n")), 8<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := l.Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrLong) {
		t.Fatalf("got %v, want ErrLong", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
	if b, err := l.Next(); err != nil || string(b) != "next" {
		t.Errorf("the next line: %q and %v", b, err)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 2)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = max(0, min(limit, 1<<20))
		l := NewLines(strings.NewReader(string(in)), limit)
		want := strings.Split(string(in), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		for _, w := range want {
			got, err := l.Next()
			if len(w) > limit {
				if !errors.Is(err, ErrLong) {
					t.Fatalf("a line of %d bytes: %v", len(w), err)
				}
			} else if err != nil || string(got) != w {
				t.Fatalf("got %q and %v, want %q", got, err, w)
			}
		}
		if _, err := l.Next(); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
	})
}
