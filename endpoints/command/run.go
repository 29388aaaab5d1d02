package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/subprocess"
	"github.com/folkmoot/moot/internal/spawn"
	"github.com/folkmoot/moot/problem"
)

// A run is one process, from its start to its end.
type run struct {
	proc  *spawn.Process
	max   int // bytes of output
	grace time.Duration
	floor endpoint.Floor // may be nil

	once sync.Once
	stop chan struct{} // closed by abandon
	done chan struct{} // closed when nothing of the process is left

	out  []byte // all output once done is closed
	long bool   // it was over the limit; out is nil
}

// newRun gives a process its input. The caller waits for done.
func newRun(proc *spawn.Process, c Config, input string, floor endpoint.Floor) *run {
	r := &run{proc: proc, max: c.MaxOutput, grace: c.Grace, floor: floor, stop: make(chan struct{}), done: make(chan struct{})}
	go r.serve(input)
	return r
}

// abandon ends the process in the background.
func (r *run) abandon() { r.once.Do(func() { close(r.stop) }) }

// serve connects the process with its input and output until it has ended.
func (r *run) serve(input string) {
	defer close(r.done)
	var pipes sync.WaitGroup
	pipes.Go(func() {
		_, _ = io.WriteString(r.proc.Stdin(), input) // a program need not read its input
		r.proc.Stdin().Close()
	})
	pipes.Go(r.read)
	select {
	case <-r.proc.Done():
	case <-r.stop:
		r.proc.Terminate(r.grace)
	}
	r.proc.Stdin().Close() // ends a write that no process reads
	pipes.Wait()
	r.proc.Close(0, 0)
}

// read reads the output and shows it line by line. More than the limit ends the
// process.
func (r *run) read() {
	buf, shown := make([]byte, 32<<10), 0
	for {
		n, err := r.proc.Stdout().Read(buf)
		if r.long = r.long || len(r.out)+n > r.max; r.long {
			r.out = nil
			r.abandon()
		} else {
			r.out = append(r.out, buf[:n]...)
			shown += r.showLines(r.out[shown:])
		}
		if err != nil { // that of a closed pipe says nothing more
			return
		}
	}
}

// showLines shows the whole lines in b and returns their size. Nothing of an
// abandoned run is shown.
func (r *run) showLines(b []byte) int {
	n := bytes.LastIndexByte(b, '\n') + 1
	if n == 0 || r.floor == nil {
		return 0
	}
	select {
	case <-r.stop:
	default:
		r.floor.Show(endpoint.Clean(string(b[:n])))
	}
	return n
}

// reply returns the reply of a process that has ended.
func (r *run) reply(p endpoint.Prompt) (endpoint.Reply, error) {
	switch {
	case r.long:
		return endpoint.Reply{}, r.tooLarge(fmt.Sprintf("more than %d bytes", r.max))
	case !r.proc.Succeeded():
		return endpoint.Reply{}, r.failure("the agent's program has failed: "+r.proc.State(), "fix what the program reports")
	}
	reply, err := answer(r.out, p)
	switch {
	case errors.Is(err, endpoint.ErrTooLarge):
		return reply, r.tooLarge(fmt.Sprintf("more than %d characters", p.MaxOutputChars))
	case err != nil:
		return reply, r.failure("the agent's program has written nothing to its standard output", "let it write its answer there, or "+endpoint.PassWord+" if it has nothing to add")
	}
	return reply, nil
}

// answer returns the reply in an output. Its errors are those of
// endpoint.PlainAnswer.
func answer(out []byte, p endpoint.Prompt) (endpoint.Reply, error) {
	return endpoint.PlainAnswer(strings.TrimSpace(endpoint.Clean(string(out))), p)
}

// failure returns the error of a turn without an answer, with the last words of the
// program.
func (r *run) failure(what, fix string) error {
	return &problem.Error{Code: "AGENT-ERROR", What: subprocess.WithWords(what, r.proc.Stderr()), Fix: fix, Kind: endpoint.ErrAgent}
}

func (r *run) tooLarge(size string) error {
	return &problem.Error{Code: "AGENT-TOOLARGE", What: "the agent's answer is too large: " + size, Fix: "raise the limit, or have the program write only its answer to standard output", Kind: endpoint.ErrTooLarge}
}
