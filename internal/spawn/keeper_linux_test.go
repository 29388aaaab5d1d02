package spawn

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphan starts a program in a session of its own, whose parent ends: a double
// fork. It ignores what asks it to end, and writes its pid.
const orphan = `sh -c 'setsid sh -c "trap \"\" TERM HUP INT; echo \$\$; exec sleep 600" &'; `

func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		skipOrFail(t, "setsid is missing; it belongs to util-linux")
	}
}

func skipOrFail(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// TestOrphanDies checks that a program that an agent has started in a session of
// its own ends with the agent, however the agent ends.
func TestOrphanDies(t *testing.T) {
	needSetsid(t)
	for name, c := range map[string]struct {
		script string
		end    func(*Process)
	}{
		"exit":      {orphan + "read x; exit 3", func(p *Process) { p.Stdin().Close() }},
		"terminate": {orphan + "read x", func(p *Process) { p.Terminate(time.Minute) }},
		"kill":      {orphan + `trap "" TERM; read x`, func(p *Process) { p.Terminate(0) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, c.script)
			pid := readPID(t, p)
			if parent(pid) == os.Getpid() || syscall.Kill(pid, 0) != nil {
				t.Fatalf("%d is no orphan that runs", pid)
			}
			c.end(p)
			<-p.Done()
			if syscall.Kill(pid, 0) == nil {
				t.Error("the orphan runs after Done")
			}
		})
	}
}

// TestOrphansOfKilledHost: the same when the host is killed.
func TestOrphansOfKilledHost(t *testing.T) {
	needSetsid(t)
	gone(t, killHost(t, orphan+"sleep 600"))
}

// TestOrphanTree checks that the descendants of an orphan end too, each in a
// session of its own.
func TestOrphanTree(t *testing.T) {
	needSetsid(t)
	p := start(t, strings.Repeat(`setsid sh -c 'echo $$; sleep 600 & setsid sleep 601 & setsid sh -c "echo \$\$; sleep 602; :"; :' & `, 4)+"read x")
	r := bufio.NewReader(p.Stdout())
	var pids []int
	for range 8 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	p.Close(0, 0)
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%d still runs", pid)
		}
	}
}

// TestOrphanReaped checks that an orphan that ends before the agent leaves no
// zombie.
func TestOrphanReaped(t *testing.T) {
	needSetsid(t)
	p := start(t, `sh -c 'setsid sh -c "echo \$\$" &'; read x`)
	pid := readPID(t, p)
	for deadline := time.Now().Add(2 * time.Minute); syscall.Kill(pid, 0) == nil; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
	if p.State() != "" {
		t.Errorf("the agent has ended: %s", p.State())
	}
}

// TestKeeperKilled checks that an agent and its group do not outlive their
// keeper, and that the host notices.
func TestKeeperKilled(t *testing.T) {
	p := start(t, `sh -c 'trap "" TERM HUP; echo $$; exec sleep 600' & wait`)
	pid := readPID(t, p)
	if err := p.group.keeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.State() != "ended without its keeper" {
		t.Errorf("state %q", p.State())
	}
	gone(t, strconv.Itoa(pid))
	p.Terminate(0) // signals no one
}

// TestKeeperTerminated checks that an orphan ends also if the keeper is asked to
// end, as at the shutdown of the system.
func TestKeeperTerminated(t *testing.T) {
	needSetsid(t)
	p := start(t, orphan+"read x")
	pid := readPID(t, p)
	if err := p.group.keeper.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.State() != "signal: killed" || syscall.Kill(pid, 0) == nil {
		t.Errorf("state %q, or the orphan runs", p.State())
	}
}

func readPID(t *testing.T, p *Process) int {
	t.Helper()
	line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
