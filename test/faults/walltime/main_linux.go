// Command walltime runs a command whose wall clock jumps: walltime SECONDS,... COMMAND
// ARGUMENT... Each reading of the clock by one of its threads is moved by the next of these
// offsets. Monotonic clocks are left alone, and so is the clock of the machine.
//
// A process reads its clocks without a system call, in code that the kernel maps into it.
// The command's auxiliary vector loses the entry that says where this code is. It makes
// system calls then, whose results walltime changes, as a debugger does (ptrace).
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
	c := exec.Command(os.Args[2], os.Args[3:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	check(c.Start())
	os.Exit(t.run(c.Process.Pid))
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
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	check(unix.PtraceSetOptions(pid, options))
	t.known[pid] = true
	hideClock(pid)
	for thread := pid; ; {
		if status.Stopped() {
			// A thread that was killed meanwhile is gone.
			_ = unix.PtraceSyscall(thread, t.stopped(thread, status))
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
	case sig == unix.SIGTRAP|0x80:
		t.call(thread)
	case sig == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		hideClock(thread)
	case sig == unix.SIGTRAP, sig == unix.SIGSTOP && first:
	default:
		return int(sig)
	}
	return 0
}

// A callInfo is the kernel's struct ptrace_syscall_info.
type callInfo struct {
	Op      uint8
	_       [3]uint8
	Arch    uint32
	IP, SP  uint64
	NrOrRet uint64 // number of the call when it begins, result when it ends
	Args    [6]uint64
	_       [2]uint64
}

// Values of callInfo.Op.
const (
	callBegins = 1
	callEnds   = 2
)

func info(thread int) (i callInfo, ok bool) {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread), unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)), 0, 0)
	return i, errno == 0
}

// call moves the result of a reading of the wall clock.
func (t *tracer) call(thread int) {
	i, ok := info(thread)
	switch {
	case !ok:
	case i.Op == callBegins && i.NrOrRet == unix.SYS_CLOCK_GETTIME && uint32(i.Args[0]) == unix.CLOCK_REALTIME:
		t.reading[thread] = uintptr(i.Args[1])
	case i.Op == callEnds && t.reading[thread] != 0:
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
