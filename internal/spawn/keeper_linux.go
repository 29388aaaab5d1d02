package spawn

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// keeperVar is set for the keeper of an agent: this same program, which starts
// the agent instead of its main function.
const keeperVar = "FOLKMOOT_KEEPER"

// Descriptors of the keeper. 0 to 2 are those of the agent.
const (
	controlFD = 3 // from the host: a command, then numbers of signals; it ends when the host does
	statusFD  = 4 // to the host: a started, then an ended
)

// A command is what the keeper starts.
type command struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
}

// A started reports whether the agent was started.
type started struct {
	PID   int           `json:"pid,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"`
	Error string        `json:"error,omitempty"` // for an error without a number
}

// An ended reports how the agent ended, after everything that it had started
// has ended too.
type ended struct {
	State string `json:"state"`
}

// The keeper does its work in an initializer, so that every program that links
// this package has it without a setup call.
var _ = func() struct{} {
	if os.Getenv(keeperVar) != "" {
		keepAgent()
		syscall.Exit(0) // os.Exit takes a second under the race detector
	}
	return struct{}{}
}()

// keepAgent starts the agent and ends when the agent and all its descendants
// have ended. It is a subreaper: what loses its parent becomes its child, also
// from a session of its own (prctl(2), PR_SET_CHILD_SUBREAPER). It runs on the
// main thread, as initializers do; the agent gets SIGKILL when that thread ends.
func keepAgent() {
	control, status := os.NewFile(controlFD, "control"), os.NewFile(statusFD, "status")
	sealDescriptors()
	from, to := json.NewDecoder(control), json.NewEncoder(status)
	var c command
	if from.Decode(&c) != nil {
		return
	}
	a, err := startAgent(c)
	if err != nil {
		_ = to.Encode(failed(err))
		return
	}
	_ = to.Encode(started{PID: a.cmd.Process.Pid}) // an error means that the host has ended; so does from
	go a.obey(from)
	state := a.wait()
	killChildren()
	_ = to.Encode(ended{state})
}

// failed reports an error of the start.
func failed(err error) started {
	var n syscall.Errno
	if errors.As(err, &n) {
		return started{Errno: n}
	}
	return started{Error: err.Error()}
}

// An agent is the process that the keeper has started.
type agent struct {
	cmd     *exec.Cmd
	changed chan os.Signal // SIGCHLD

	mu     sync.Mutex
	reaped bool // its pid may be reused, so no more signals
}

func startAgent(c command) (*agent, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	a := &agent{changed: make(chan os.Signal, 1)}
	signal.Notify(a.changed, syscall.SIGCHLD)
	a.cmd = &exec.Cmd{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	return a, releaseStandard()
}

// releaseStandard gives up the pipes of the agent, whose ends the host awaits.
func releaseStandard() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return null.Close()
}

// obey sends the signals of the host. When the host, or this process, is to end,
// it kills the agent.
func (a *agent) obey(host *json.Decoder) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-asked
		a.signal(syscall.SIGKILL)
	}()
	for {
		var s syscall.Signal
		if host.Decode(&s) != nil {
			a.signal(syscall.SIGKILL)
			return
		}
		a.signal(s)
	}
}

// signal signals the group of the agent, unless the agent was reaped.
func (a *agent) signal(s syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.reaped {
		_ = syscall.Kill(-a.cmd.Process.Pid, s)
	}
}

// wait reaps orphans until the agent has ended, kills the rest of its group, and
// returns how the agent ended. The group is killed before the agent is reaped,
// because until then its pid cannot be reused.
func (a *agent) wait() string {
	for !exited(a.cmd.Process.Pid) {
		<-a.changed
		for _, pid := range children() {
			if pid != a.cmd.Process.Pid {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
	}
	a.signal(syscall.SIGKILL)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reaped = true
	_ = a.cmd.Wait() // the state has the same words
	return a.cmd.ProcessState.String()
}

// exited reports whether a child has ended, without reaping it.
func exited(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err != nil && !errors.Is(err, unix.EINTR) || info.Signo != 0
}

// killChildren kills and reaps the children of this process until there are
// none. The children of a killed one become children of this process.
func killChildren() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.ECHILD) {
			return
		}
		if pid > 0 {
			continue
		}
		if !killAny(children()) {
			return // of another user, such as what sudo started
		}
		_, _ = unix.Wait4(-1, nil, 0, nil)
	}
}

// killAny kills the processes and reports whether it may kill any of them.
func killAny(pids []int) bool {
	var any bool
	for _, pid := range pids {
		any = syscall.Kill(pid, syscall.SIGKILL) == nil || any
	}
	return any
}

// children lists the children of this process. A child keeps its pid until this
// process reaps it.
func children() []int {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []int
	for _, e := range all {
		if pid, err := strconv.Atoi(e.Name()); err == nil && parent(pid) == os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}

// parent returns the parent of a process, or 0. See proc_pid_stat(5): the fields
// after the name, which is in parentheses and may contain some, are its state
// and its parent.
func parent(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	s := string(b)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}
