package command

import (
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

	once sync.Once
	stop chan struct{} // closed by abandon
	done chan struct{} // closed when nothing of the process is left

	out  []byte // all output; set before done is closed
	long bool   // there was more of it; out is nil
}

// newRun gives a process its input. The caller waits for done.
func newRun(proc *spawn.Process, c Config, input string) *run {
	r := &run{proc: proc, max: c.MaxOutput, grace: c.Grace, stop: make(chan struct{}), done: make(chan struct{})}
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

// read reads the output. More than the limit ends the process.
func (r *run) read() {
	out, _ := io.ReadAll(io.LimitReader(r.proc.Stdout(), int64(r.max)+1)) // the error of a closed pipe says nothing more
	if len(out) <= r.max {
		r.out = out
		return
	}
	r.long = true
	r.abandon()
	_, _ = io.Copy(io.Discard, r.proc.Stdout())
}

// reply returns the reply of a process that has ended.
func (r *run) reply(p endpoint.Prompt) (endpoint.Reply, error) {
	switch {
	case r.long:
		return endpoint.Reply{}, r.tooLarge(fmt.Sprintf("more than %d bytes", r.max))
	case !r.proc.Succeeded():
		return endpoint.Reply{}, r.failure("the agent's program has failed: "+r.proc.State(), "fix what the program reports")
	}
	reply, err := endpoint.PlainAnswer(strings.TrimSpace(endpoint.Clean(string(r.out))), p)
	switch {
	case errors.Is(err, endpoint.ErrTooLarge):
		return reply, r.tooLarge(fmt.Sprintf("more than %d characters", p.MaxOutputChars))
	case err != nil:
		return reply, r.failure("the agent's program has written nothing to its standard output", "let it write its answer there, or "+endpoint.PassWord+" if it has nothing to add")
	}
	return reply, nil
}

// failure returns the error of a turn without an answer, with the last words of the
// program.
func (r *run) failure(what, fix string) error {
	return &problem.Error{Code: "AGENT-ERROR", What: subprocess.WithWords(what, r.proc.Stderr()), Fix: fix, Kind: endpoint.ErrAgent}
}

func (r *run) tooLarge(size string) error {
	return &problem.Error{Code: "AGENT-TOOLARGE", What: "the agent's answer is too large: " + size, Fix: "raise the limit, or have the program write only its answer to standard output", Kind: endpoint.ErrTooLarge}
}
