package cli

import (
	"bufio"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A spawned is a program that runs next to a script.
type spawned struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // of stdout and stderr; closed at the end
	said  []string    // lines that were read
	over  chan error
}

// A spawner holds the programs of one script:
//
//	spawn NAME PROGRAM ARG...   starts a program
//	expect NAME REGEXP          waits for a line; its first group becomes $MATCH
//	type NAME LINE              writes a line to its stdin
//	closein NAME                closes its stdin
//	signal NAME INT|TERM|KILL   sends a signal
//	finish NAME CODE            waits for its end, and wants that exit code
type spawner struct {
	mu  sync.Mutex
	all map[*testscript.TestScript]map[string]*spawned
}

// A scriptCommand is a command of scripts.
type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// withSpawn adds the commands of a spawner to cmds.
func withSpawn(cmds map[string]scriptCommand) map[string]scriptCommand {
	s := &spawner{}
	maps.Copy(cmds, map[string]scriptCommand{
		"spawn": s.spawn, "expect": s.expect, "type": s.typeLine, "closein": s.closeIn, "signal": s.signal, "finish": s.finish,
	})
	return cmds
}

// spawnTimeout is how long a script waits for a program before it fails.
const spawnTimeout = 5 * time.Minute

func (s *spawner) spawn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: spawn NAME PROGRAM ARG...")
	}
	path := args[1]
	for _, dir := range strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(dir + "/" + args[1]); err == nil {
			path = dir + "/" + args[1]
			break
		}
	}
	p := &spawned{cmd: exec.Command(path, args[2:]...), lines: make(chan string, 1<<16), over: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), environmentOf(ts)
	r, w := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = w, w
	var err error
	p.in, err = p.cmd.StdinPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	go func() {
		p.over <- p.cmd.Wait()
		w.Close()
	}()
	go func() {
		defer close(p.lines)
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			p.lines <- scan.Text()
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*testscript.TestScript]map[string]*spawned{}
	}
	if s.all[ts] == nil {
		s.all[ts] = map[string]*spawned{}
	}
	s.all[ts][args[0]] = p
	ts.Defer(func() {
		_ = p.cmd.Process.Kill()
		for range p.lines { // until the process has ended
		}
	})
}

// environmentOf returns the variables of a script that programs use.
func environmentOf(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "MOOT_DATA", "MOOT_CACHE", "MOOT_CONFIG", "MOOT_TOKEN", "NO_COLOR", "TMPDIR", "CI", "XDG_CACHE_HOME", "GREETING"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// named returns the program that a script calls name.
func (s *spawner) named(ts *testscript.TestScript, name string) *spawned {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.all[ts][name]
	if p == nil {
		ts.Fatalf("no program %s was spawned", name)
	}
	return p
}

func (s *spawner) expect(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expect NAME REGEXP")
	}
	p, want := s.named(ts, args[0]), regexp.MustCompile(args[1])
	timeout := time.After(spawnTimeout)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				ts.Fatalf("%s ended without %s; it said:\n%s", args[0], want, strings.Join(p.said, "\n"))
			}
			p.said = append(p.said, line)
			if m := want.FindStringSubmatch(line); m != nil {
				ts.Setenv("MATCH", append(m, "")[1])
				return
			}
		case <-timeout:
			ts.Fatalf("%s does not say %s; it said:\n%s", args[0], want, strings.Join(p.said, "\n"))
		}
	}
}

func (s *spawner) typeLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: type NAME LINE")
	}
	_, err := io.WriteString(s.named(ts, args[0]).in, args[1]+"\n")
	ts.Check(err)
}

func (s *spawner) closeIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: closein NAME")
	}
	ts.Check(s.named(ts, args[0]).in.Close())
}

func (s *spawner) signal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}
	if neg || len(args) != 2 || signals[args[1]] == nil {
		ts.Fatalf("usage: signal NAME INT|TERM|KILL")
	}
	ts.Check(s.named(ts, args[0]).cmd.Process.Signal(signals[args[1]]))
}

func (s *spawner) finish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: finish NAME CODE")
	}
	p := s.named(ts, args[0])
	select {
	case err := <-p.over:
		p.over <- err
		if got := exitCodeOf(err); got != args[1] {
			for line := range p.lines {
				p.said = append(p.said, line)
			}
			ts.Fatalf("%s: exit code %s, want %s; it said:\n%s", args[0], got, args[1], strings.Join(p.said, "\n"))
		}
	case <-time.After(spawnTimeout):
		ts.Fatalf("%s does not end; it said:\n%s", args[0], strings.Join(p.said, "\n"))
	}
}
