//go:build unix

package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/command"
	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/problem"
)

func turn(text string) endpoint.Prompt {
	return endpoint.Prompt{Kind: endpoint.Turn, Request: "q", Text: text, MaxOutputChars: 1000, Timeout: time.Minute}
}

// shell returns an endpoint whose program is a shell script.
func shell(t *testing.T, c command.Config, script string) *command.Endpoint {
	c.Command = []string{"sh", "-c", script}
	e := command.New(c)
	t.Cleanup(func() { e.Close() })
	return e
}

// TestInput checks what a program reads.
func TestInput(t *testing.T) {
	e := shell(t, command.Config{}, "cat")
	p := turn("The prompt.\nIts end.")
	p.Instructions = "Be brief."
	r, err := e.Speak(t.Context(), p, nil)
	if err != nil || r.Outcome != endpoint.Said || !strings.HasPrefix(r.Text, "Be brief.\n\n") || !strings.HasSuffix(r.Text, "\n\nThe prompt.\nIts end.") {
		t.Errorf("%+v, %v", r, err)
	}
	if want := endpoint.PlainInstructions(p) + "\n\nThe prompt.\nIts end."; r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
	if r.Usage.Known {
		t.Errorf("usage %+v", r.Usage)
	}
}

// TestReplies checks the replies to outputs of all kinds.
func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   string // the text, or "passes"
		err    error
		detail string
	}{
		"plain":              {`echo hello`, "hello", nil, ""},
		"lines":              {`printf '\n one\r\ntwo\t.\n\n'`, "one\ntwo\t.", nil, ""},
		"colours":            {`printf '\033[1;32mgreen\033[0m \033]0;title\007and\000 plain\b'`, "green and plain", nil, ""},
		"invalid UTF-8":      {`printf 'a\377\376b\300'`, "a\ufffdb\ufffd", nil, ""},
		"pass":               {`printf ' PASS\n'`, "passes", nil, ""},
		"pass in a sentence": {`echo I PASS`, "I PASS", nil, ""},
		"logs":               {`echo thinking >&2; echo done`, "done", nil, ""},
		"nothing":            {`true`, "", endpoint.ErrAgent, "nothing to its standard output"},
		"blank":              {`printf ' \033[0m\n\t\000'; echo no key >&2`, "", endpoint.ErrAgent, "no key"},
		"exit status":        {`echo half an answer; echo no memory >&2; exit 3`, "", endpoint.ErrAgent, "exit status 3\nits last words:\nno memory"},
		"signal":             {`kill -KILL $$`, "", endpoint.ErrAgent, "signal: killed"},
		"too many characters": {
			`head -c 1001 /dev/zero | tr '\0' x`, "", endpoint.ErrTooLarge, "more than 1000 characters",
		},
		"megabytes": {`exec <&-; head -c 20000000 /dev/zero | tr '\0' x`, "", endpoint.ErrTooLarge, "more than 100000 bytes"},
		"endless":   {`exec <&-; trap "" TERM; yes`, "", endpoint.ErrTooLarge, "more than 100000 bytes"},
		"closed output": {
			`exec >&-; cat >/dev/null; exit 4`, "", endpoint.ErrAgent, "exit status 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := shell(t, command.Config{MaxOutput: 100_000, Grace: time.Millisecond}, c.script)
			for _, size := range []int{10, 1 << 20} { // within and beyond what a pipe holds
				r, err := e.Speak(t.Context(), turn(strings.Repeat("x", size)), nil)
				switch {
				case c.err != nil:
					if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.detail) {
						t.Errorf("%d bytes: %+v, %v", size, r, err)
					}
				case err != nil:
					t.Errorf("%d bytes: %v", size, err)
				case c.want == "passes":
					if r.Outcome != endpoint.Passed || r.Text != "" {
						t.Errorf("%+v", r)
					}
				case r.Outcome != endpoint.Said || r.Text != c.want:
					t.Errorf("%+v, want %q", r, c.want)
				}
			}
		})
	}
}

// A watcher is a floor that takes live text.
type watcher chan string

func (watcher) Raise(context.Context, endpoint.Signal) (endpoint.Answer, error) {
	return endpoint.Answer{}, nil
}
func (w watcher) Show(delta string) { w <- delta }

func (watcher) ShowTool(endpoint.ToolCall) {}

// TestShow checks that lines are shown as they are written, without terminal
// sequences.
func TestShow(t *testing.T) {
	working, floor := newSignpost(t), make(watcher, 8)
	e := shell(t, command.Config{Env: working.env()}, `printf '\033[1mone\033[0m\ntw'; read -r _ <"$WORKING"; echo o`)
	done := make(chan error, 1)
	go func() {
		_, err := e.Speak(t.Context(), turn("x"), floor)
		done <- err
	}()
	if got := <-floor; got != "one\n" {
		t.Errorf("first %q", got)
	}
	if err := os.WriteFile(string(working), []byte("go on\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got := <-floor; got != "two\n" {
		t.Errorf("then %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestNoBids checks that a bid starts no process.
func TestNoBids(t *testing.T) {
	dir := t.TempDir()
	e := shell(t, command.Config{Dir: dir}, "touch started; echo hello")
	p := turn("bid")
	p.Kind = endpoint.Bid
	if r, err := e.Speak(t.Context(), p, nil); err != nil || r.Bid != nil || r.Outcome != endpoint.Passed {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("a process was started")
	}
}

// TestStart checks that a start finds what prevents the turns, and runs nothing.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	for code, c := range map[string]command.Config{
		"AGENT-COMMAND":  {},
		"AGENT-NOTFOUND": {Command: []string{"no-such-program"}},
		"AGENT-NOTEXEC":  {Command: []string{dir}},
		"AGENT-CWD":      {Command: []string{"sh"}, Dir: filepath.Join(dir, "missing")},
	} {
		e := command.New(c)
		started := e.Start(t.Context(), nil)
		_, spoken := e.Speak(t.Context(), turn("x"), nil)
		for _, err := range []error{started, spoken} {
			if pe, ok := errors.AsType[*problem.Error](err); !ok || pe.Code != code || pe.Fix == "" {
				t.Errorf("got %v, want %s", err, code)
			}
		}
		e.Close()
	}
	e := shell(t, command.Config{Dir: dir}, "touch started; echo hello")
	if err := e.Start(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("a start runs the program")
	}
}

// A signpost is a pipe on which a program tells the test that it works.
type signpost string

func newSignpost(t *testing.T) signpost {
	path := filepath.Join(t.TempDir(), "working")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return signpost(path)
}

func (s signpost) env() []string { return []string{"WORKING=" + string(s)} }

// await returns the words that the program has written.
func (s signpost) await(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(string(s))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// stubborn ignores SIGTERM, as does its child, which holds the pipes of its
// parent. It tells the process ids of both.
const stubborn = `trap "" TERM HUP
sh -c 'trap "" TERM HUP; while :; do sleep 0.05; done' &
echo $$ $! >"$WORKING"
while :; do sleep 0.05; done`

// during starts a turn and returns once the program works on it.
func during(t *testing.T, ctx context.Context, e *command.Endpoint, s signpost) (result <-chan error, pids []string) {
	c := make(chan error, 1)
	go func() {
		_, err := e.Speak(ctx, turn("hello"), nil)
		c <- err
	}()
	return c, s.await(t)
}

func ended(t *testing.T, pids []string) {
	t.Helper()
	if len(pids) != 2 {
		t.Errorf("the program says its pids are %q", pids)
	}
	for _, pid := range pids {
		n, err := strconv.Atoi(pid)
		if err != nil || syscall.Kill(n, 0) == nil {
			t.Errorf("process %s still runs (%v)", pid, err)
		}
	}
}

// TestCancelEndsGroup checks that a cancelled turn returns at once, that the next
// start waits for the end of its processes, and that turns go on.
func TestCancelEndsGroup(t *testing.T) {
	working := newSignpost(t)
	e := shell(t, command.Config{Env: working.env(), Grace: 50 * time.Millisecond}, stubborn)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		result, pids := during(t, ctx, e, working)
		if _, err := e.Speak(t.Context(), turn("x"), nil); !errors.Is(err, endpoint.ErrBusy) {
			t.Errorf("a second prompt: %v", err)
		}
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("the turn: %v", err)
		}
		if err := e.Start(t.Context(), nil); err != nil {
			t.Errorf("the next start: %v", err)
		}
		ended(t, pids)
	}
}

// TestOneProcess checks that a turn whose time passes while the process of the turn
// before still runs gets no process of its own.
func TestOneProcess(t *testing.T) {
	working := newSignpost(t)
	e := shell(t, command.Config{Env: working.env(), Grace: time.Minute}, stubborn)
	ctx, cancel := context.WithCancel(t.Context())
	result, _ := during(t, ctx, e, working)
	cancel()
	<-result
	p := turn("next")
	p.Timeout = time.Millisecond
	if _, err := e.Speak(t.Context(), p, nil); !errors.Is(err, endpoint.ErrTimeout) {
		t.Errorf("the next turn: %v", err)
	}
}

// TestCloseEndsGroup closes an endpoint during a turn.
func TestCloseEndsGroup(t *testing.T) {
	working := newSignpost(t)
	e := shell(t, command.Config{Env: working.env(), Grace: time.Millisecond}, stubborn)
	result, pids := during(t, t.Context(), e, working)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-result; !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("the turn: %v", err)
	}
	ended(t, pids)
	for _, f := range []func() error{
		func() error { return e.Start(t.Context(), nil) },
		func() error { _, err := e.Speak(t.Context(), turn("x"), nil); return err },
	} {
		if err := f(); !errors.Is(err, endpoint.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// TestSecretsStayOut checks that an error has no value of the environment.
func TestSecretsStayOut(t *testing.T) {
	e := shell(t, command.Config{Env: []string{"API_KEY=sk-very-secret"}}, `echo "bad key $API_KEY" >&2; exit 1`)
	_, err := e.Speak(t.Context(), turn("x"), nil)
	if err == nil || strings.Contains(err.Error(), "sk-very-secret") || !strings.Contains(err.Error(), "bad key") {
		t.Errorf("got %v", err)
	}
}
