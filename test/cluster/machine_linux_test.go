package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A machine runs one process. In a cluster that is isolated it has a network, process ids and
// a small disk of its own.
type machine struct {
	c       *cluster
	name    string
	address string // in the network of the machines
	disk    string // the folder of its disk
	space   string // its network namespace; "" is that of the test

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

// newMachine makes a machine. number is that of its address, and size that of its disk.
func (c *cluster) newMachine(name string, number int, disk, size string) *machine {
	m := &machine{c: c, name: name, address: "127.0.0.1", disk: disk}
	if err := os.MkdirAll(disk, 0o700); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(m.kill)
	if c.isolated {
		m.isolate(number, size)
	}
	return m
}

// isolate gives the machine a network and a disk.
func (m *machine) isolate(number int, size string) {
	c, space := m.c, fmt.Sprintf("moot%dn%d", m.c.network, number)
	_ = exec.Command("ip", "netns", "del", space).Run() // of a test that was killed
	_ = exec.Command("ip", "link", "del", space).Run()  // the system removes it some time after its namespace
	c.run("ip", "netns", "add", space)
	c.t.Cleanup(func() { m.kill(); c.run("ip", "netns", "del", space) })
	c.run("ip", "link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", space)
	c.run("ip", "link", "set", space, "master", c.bridge(), "up")
	m.space, m.address = space, c.addressOf(number)
	for _, args := range [][]string{{"addr", "add", m.address + "/24", "dev", "eth0"}, {"link", "set", "eth0", "up"}, {"link", "set", "lo", "up"}} {
		c.run("ip", append([]string{"-n", space}, args...)...)
	}
	c.run("mount", "-t", "tmpfs", "-o", "size="+size+",mode=0700", "tmpfs", m.disk)
	c.t.Cleanup(func() { m.kill(); c.run("umount", "-l", m.disk) })
}

// command makes the command that runs a program on the machine.
func (m *machine) command(args []string) *exec.Cmd {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if m.space != "" {
		attr.Cloneflags = syscall.CLONE_NEWPID
		const mount = `mount -t proc proc /proc && exec "$@"` // ip has made mounts private
		args = append([]string{"ip", "netns", "exec", m.space, "sh", "-c", mount, "sh"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = attr
	return cmd
}

// runs notes the process that runs. done is called when it has ended.
func (m *machine) runs(cmd *exec.Cmd, before func()) {
	ended := make(chan struct{})
	m.mu.Lock()
	m.cmd, m.ended = cmd, ended
	m.mu.Unlock()
	go func() {
		before()
		_ = cmd.Wait() // it is ended by a signal
		close(ended)
	}()
}

func (m *machine) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.ended:
		return false
	default:
		return m.ended != nil
	}
}

// signal signals the process and those that it has started in its group.
func (m *machine) signal(s syscall.Signal) {
	if !m.running() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = syscall.Kill(-m.cmd.Process.Pid, s) // it may have ended
}

func (m *machine) wait() {
	m.mu.Lock()
	ended := m.ended
	m.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// kill kills the process. The agents of a node notice that and end.
func (m *machine) kill() {
	m.signal(syscall.SIGKILL)
	m.wait()
}

func (m *machine) freeze() { m.signal(syscall.SIGSTOP) }
func (m *machine) thaw()   { m.signal(syscall.SIGCONT) }

// cut drops all packets of the machine, or ends that.
func (m *machine) cut(off bool) {
	rules := "delete table inet cut"
	if off {
		rules = `table inet cut {
			chain in { type filter hook input priority 0; iifname "eth0" drop; }
			chain out { type filter hook output priority 0; oifname "eth0" drop; }
		}`
	}
	m.c.run("ip", "netns", "exec", m.space, "nft", rules)
}

// fillDisk fills the disk until free is called.
func (m *machine) fillDisk() (free func()) {
	path := filepath.Join(m.disk, "filler")
	f, err := os.Create(path)
	if err != nil {
		m.c.t.Fatal(err)
	}
	defer f.Close()
	var room unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &room); err != nil {
		m.c.t.Fatal(err)
	}
	_ = unix.Fallocate(int(f.Fd()), 0, 0, int64(room.Bfree)*room.Bsize) // fast; the process may have written meanwhile
	if _, err := f.Seek(0, 2); err != nil {
		m.c.t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	return func() { _ = unix.Unlink(path) }
}

// makeNetwork makes the bridge between the machines, with the first number that is free.
func (c *cluster) makeNetwork() {
	var out []byte
	for c.network = range 250 {
		var err error
		if out, err = exec.Command("ip", "link", "add", c.bridge(), "type", "bridge").CombinedOutput(); err == nil {
			c.t.Cleanup(func() { c.run("ip", "link", "del", c.bridge()) })
			c.run("ip", "addr", "add", c.addressOf(1)+"/24", "dev", c.bridge())
			c.run("ip", "link", "set", c.bridge(), "up")
			return
		}
	}
	c.t.Fatalf("making a network: %s", out)
}

func (c *cluster) bridge() string { return fmt.Sprint("mootbr", c.network) }

// addressOf returns the address of a machine. That of the bridge, which the test has, is number 1.
func (c *cluster) addressOf(number int) string { return fmt.Sprintf("10.77.%d.%d", c.network, number) }

// run runs a program of the system.
func (c *cluster) run(program string, args ...string) {
	c.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		c.t.Errorf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// walltime builds the program under which the clock jumps.
func (c *cluster) walltime() string {
	path := filepath.Join(c.dir, "walltime")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if out, err := exec.Command("go", "build", "-o", path, "../faults/walltime").CombinedOutput(); err != nil {
		c.t.Logf("the clock is left alone: %v\n%s", err, out)
		return ""
	}
	return path
}

// stop ends the process as an operator does: a node hands over its rooms.
func (m *machine) stop() {
	m.signal(syscall.SIGTERM)
	m.mu.Lock()
	ended := m.ended
	m.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		m.signal(syscall.SIGQUIT) // it prints its goroutines
		m.wait()
		m.c.t.Errorf("%s does not end", m.name)
	}
}
