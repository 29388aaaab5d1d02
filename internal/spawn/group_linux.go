package spawn

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals of an agent: it is asked to end, and killed.
const polite, final = syscall.SIGTERM, syscall.SIGKILL

// A group is an agent and all its descendants, under a keeper: a process between
// the host and the agent. When the host ends, however it ends, the pipe to the
// keeper breaks, and the keeper kills them. A killed host cannot do this, and the
// kernel would kill at most the agent.
type group struct {
	keeper *exec.Cmd
	agent  int // pid, and id of its process group
	status *json.Decoder
	from   *os.File // the status

	mu      sync.Mutex
	control *os.File // nil when the agent has ended
}

// startGroup starts cmd, which has files as standard input, output and error.
func startGroup(cmd *exec.Cmd) (*group, error) {
	controlled, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{controlled, control})
		return nil, err
	}
	sealDescriptors()
	g := &group{status: json.NewDecoder(from), from: from, control: control, keeper: &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"moot-keeper", cmd.Path}, Dir: "/", Env: []string{keeperVar + "=1"},
		Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		ExtraFiles:  []*os.File{controlled, to}, // controlFD, statusFD
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}}
	err = g.keeper.Start()
	closeAll([]*os.File{controlled, to})
	if err == nil {
		err = g.order(command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env})
	}
	if err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

// order lets the keeper start the agent.
func (g *group) order(c command) error {
	var s started
	err := json.NewEncoder(g.control).Encode(c)
	if err == nil {
		err = g.status.Decode(&s)
	}
	switch {
	case err != nil:
		return errors.New("the process that starts it has failed: " + err.Error())
	case s.Errno != 0:
		return s.Errno
	case s.Error != "":
		return errors.New(s.Error)
	}
	g.agent = s.PID
	return nil
}

// signal signals the agent and its group, unless the agent has ended.
func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.control != nil {
		_ = json.NewEncoder(g.control).Encode(s) // an error means that the keeper has ended
	}
}

// wait blocks until the agent and its descendants have ended, and returns how
// the agent ended.
func (g *group) wait() string {
	var e ended
	if g.status.Decode(&e) != nil {
		// The keeper was killed. The kernel has then killed the agent, not its group.
		_ = syscall.Kill(-g.agent, final)
		e.State = "ended without its keeper"
	}
	g.release()
	return e.State
}

// release ends the keeper.
func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.control.Close()
	g.control = nil
	_ = g.keeper.Wait()
	g.from.Close()
}

// sealDescriptors sets close-on-exec on the descriptors that this process
// inherited from its parent. Go sets it only on those that it opens.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	list, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	if err != nil {
		return
	}
	for _, e := range list {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
