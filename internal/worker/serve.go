package worker

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"time"
)

// variable is set for a worker process, to the name of its work.
const variable = "FOLKMOOT_WORKER"

// Limits bound a worker process. The process and its parent enforce them.
type Limits struct {
	CPU    time.Duration // of the processor; whole seconds
	Memory uint64        // bytes; only Linux counts them exactly
	File   uint64        // bytes of one file that it writes; 0: it may write none
	Idle   time.Duration // in which it uses no processor time; whole seconds; 0: DefIdle
}

// DefIdle ends work that waits. On a busy machine other work uses some processor
// time in it.
const DefIdle = 30 * time.Second

// magic starts the reply. Output of other initializers before it is skipped.
const magic = "\x00moot reply\x00"

// Exit codes of a worker process.
const (
	exitFailed  = 3 // the work failed, or no one reads the reply
	exitTooSlow = 4 // its processor time is over
	exitIdle    = 5 // it used no processor time
)

// Serve does the work and ends the process, if the process is one that was
// started for the work of this name. Else it does nothing. An error of work is
// one of the process; what the caller shall know belongs into the reply.
func Serve(name string, work func(request io.Reader, reply io.Writer) error) struct{} {
	if os.Getenv(variable) == name {
		os.Exit(serve(os.Stdin, os.Stdout, work))
	}
	return struct{}{}
}

func serve(in io.Reader, out io.Writer, work func(io.Reader, io.Writer) error) int {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	var l Limits
	if err != nil || json.Unmarshal(line, &l) != nil {
		return exitFailed
	}
	l.enforce()
	go watch(l) // until the process ends
	if _, err := io.WriteString(out, magic); err != nil {
		return exitFailed
	}
	if err := work(r, out); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return exitFailed
	}
	return 0
}
