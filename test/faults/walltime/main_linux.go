// Command walltime runs a command whose wall clock jumps: walltime SECONDS,... COMMAND
// ARGUMENT... Each reading of the clock by one of its threads is moved by the next of these
// offsets. Monotonic clocks are left alone, and so is the clock of the machine.
//
// A process reads its clocks without a system call, in code that the kernel maps into it.
// The command's auxiliary vector loses the entry that says where this code is. It makes
// system calls then, whose results walltime changes, as a debugger does (ptrace). A filter
// (seccomp) stops the readings of the wall clock only: other calls take no longer.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == filtered {
		check(execFiltered(os.Args[2:]))
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: walltime SECONDS,... COMMAND ARGUMENT...")
		os.Exit(2)
	}
	t := &tracer{reading: map[int]uintptr{}, known: map[int]bool{}}
	for s := range strings.SplitSeq(os.Args[1], ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		check(err)
		t.offsets = append(t.offsets, n)
	}
	runtime.LockOSThread() // all requests to a traced thread come from one thread
	command, err := exec.LookPath(os.Args[2])
	check(err)
	self, err := os.Executable()
	check(err)
	c := exec.Command(self, append([]string{filtered, command}, os.Args[2:]...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	check(c.Start())
	os.Exit(t.run(c.Process.Pid))
}

// filtered is the argument with which walltime starts itself to become the command. The path of
// the command and its arguments follow.
const filtered = "-filtered"

// execFiltered has the kernel stop this thread at each reading of the wall clock, and runs the
// command in its place.
func execFiltered(args []string) error {
	const number, clock = 0, 16 // where struct seccomp_data has the call and its first argument
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	skipUnless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}
	result := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	filter := []unix.SockFilter{
		load(number), skipUnless(unix.SYS_CLOCK_GETTIME, 3),
		load(clock), skipUnless(unix.CLOCK_REALTIME, 1),
		result(unix.SECCOMP_RET_TRACE),
		result(unix.SECCOMP_RET_ALLOW),
	}
	runtime.LockOSThread() // the filter is of this thread, which goes on as the command
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return unix.Exec(args[0], args[1:], os.Environ())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "walltime:", err)
		os.Exit(3)
	}
}

// A tracer follows the threads of a command.
type tracer struct {
	offsets []int64         // in seconds
	next    int             // of offsets
	reading map[int]uintptr // where threads that read the wall clock want its time
	known   map[int]bool    // threads that have stopped before
}

// run follows the command until it ends, and returns its exit code.
func (t *tracer) run(pid int) int {
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, unix.WALL, nil)
	check(err)
	const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	check(unix.PtraceSetOptions(pid, options))
	t.known[pid] = true
	hideClock(pid)
	for thread := pid; ; {
		if status.Stopped() {
			goOn := unix.PtraceCont
			sig := t.stopped(thread, status)
			if t.reading[thread] != 0 {
				goOn = unix.PtraceSyscall // until the call ends
			}
			_ = goOn(thread, sig) // a thread that was killed meanwhile is gone
		}
		thread, err = unix.Wait4(-1, &status, unix.WALL, nil)
		if err == unix.EINTR {
			status = 0
			continue
		}
		check(err)
		if thread == pid && status.Exited() {
			return status.ExitStatus()
		}
		if thread == pid && status.Signaled() {
			return 128 + int(status.Signal())
		}
	}
}

// stopped handles the stop of a thread, and returns the signal that it gets.
func (t *tracer) stopped(thread int, status unix.WaitStatus) int {
	first := !t.known[thread]
	t.known[thread] = true
	switch sig := status.StopSignal(); {
	case sig == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		t.begins(thread)
	case sig == unix.SIGTRAP|0x80:
		t.ends(thread)
	case sig == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		hideClock(thread)
	case sig == unix.SIGTRAP, sig == unix.SIGSTOP && first:
	default:
		return int(sig)
	}
	return 0
}

// A callInfo is the kernel's struct ptrace_syscall_info of a call that begins.
type callInfo struct {
	Op     uint8
	_      [3]uint8
	Arch   uint32
	IP, SP uint64
	Number uint64
	Args   [6]uint64
	_      [2]uint64
}

func info(thread int) (i callInfo, ok bool) {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread), unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)), 0, 0)
	return i, errno == 0
}

// begins notes where a thread that begins to read the wall clock wants its time.
func (t *tracer) begins(thread int) {
	if i, ok := info(thread); ok {
		t.reading[thread] = uintptr(i.Args[1])
	}
}

// ends moves the time that a thread has read.
func (t *tracer) ends(thread int) {
	at := t.reading[thread]
	delete(t.reading, thread)
	var b [8]byte
	if _, err := unix.PtracePeekData(thread, at, b[:]); err != nil {
		return
	}
	seconds := int64(binary.NativeEndian.Uint64(b[:])) + t.offsets[t.next%len(t.offsets)]
	t.next++
	binary.NativeEndian.PutUint64(b[:], uint64(seconds))
	_, err := unix.PtracePokeData(thread, at, b[:])
	check(err)
}

// Types of entries of the auxiliary vector.
const (
	vectorEnd     = 0
	vectorIgnored = 1
	vectorCode    = 33 // AT_SYSINFO_EHDR
)

// hideClock removes the address of the kernel's code from a process that has begun a program.
// Its stack has the arguments and the environment, which end with zeros, and the vector.
func hideClock(pid int) {
	i, ok := info(pid)
	if !ok {
		check(fmt.Errorf("the stack of process %d is not known", pid))
	}
	at := uintptr(i.SP)
	word := func() uint64 {
		var b [8]byte
		_, err := unix.PtracePeekData(pid, at, b[:])
		check(err)
		at += 8
		return binary.NativeEndian.Uint64(b[:])
	}
	at += uintptr(word()+1) * 8 // the arguments
	for word() != 0 {           // the environment
	}
	for {
		switch word() {
		case vectorEnd:
			return
		case vectorCode:
			var b [8]byte
			binary.NativeEndian.PutUint64(b[:], vectorIgnored)
			_, err := unix.PtracePokeData(pid, at-8, b[:])
			check(err)
			return
		}
		word()
	}
}
