//go:build unix

package processes

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const embeddedRoom = `version: room/v1
name: names
policy: {use: round-robin}
limits: {maxTurns: 4}
participants:
  - {id: A, mode: full_auto, endpoint: {kind: scripted, lines: [one, three]}}
  - {id: B, mode: full_auto, endpoint: {kind: scripted, lines: [two, four]}}
`

// A clusterBench is a workbench with the folders of three machines.
type clusterBench struct {
	*workbench
	addresses []string // arguments of moot cluster init
}

// newClusterBench makes the folders of machines on ports of this one.
func newClusterBench(t *testing.T) *clusterBench {
	t.Helper()
	b := &clusterBench{workbench: newWorkbench(t, map[string]string{"room.yaml": embeddedRoom})}
	taken := map[int]bool{}
	for _, name := range []string{"one", "two", "three"} {
		b.addresses = append(b.addresses, fmt.Sprintf("%s=127.0.0.1:%d", name, freePorts(t, taken)))
	}
	b.command(0, "one", append([]string{"cluster", "init", "keys"}, b.addresses...)...)
	return b
}

// freePorts returns the first of three ports that are free. They are below those that the
// system gives to programs that ask for any.
func freePorts(t *testing.T, taken map[int]bool) int {
	t.Helper()
	for range 1000 {
		port := 10000 + 3*rand.IntN(6000)
		free := !taken[port]
		for p := port; p < port+3 && free; p++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if free = err == nil; free {
				l.Close()
			}
		}
		if free {
			taken[port] = true
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// environment is that of a machine.
func (b *clusterBench) environment(name string) []string {
	return append(b.env[:len(b.env):len(b.env)], "MOOT_DATA="+filepath.Join(b.dir, name))
}

// command runs moot on a machine.
func (b *clusterBench) command(code int, machine string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("moot", args...)
	cmd.Dir, cmd.Env = b.dir, b.environment(machine)
	out, _ := cmd.CombinedOutput() // the code says it
	if got := cmd.ProcessState.ExitCode(); got != code {
		b.t.Fatalf("%s: moot %s: exit code %d, want %d\n%s", machine, strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// repeated is command for what may come while the servers elect leaders: it is tried again
// until it ends with the code.
func (b *clusterBench) repeated(code int, machine string, args ...string) string {
	b.t.Helper()
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); {
		cmd := exec.Command("moot", args...)
		cmd.Dir, cmd.Env = b.dir, b.environment(machine)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() == code {
			return string(out)
		}
	}
	return b.command(code, machine, args...) // says what is wrong
}

// serve starts the server of a machine with the folder of keys. Its stderr is in NAME.err.
func (b *clusterBench) serve(machine, keys string) *running {
	b.t.Helper()
	cmd := exec.Command("moot", "serve", "--cluster", filepath.Join(keys, machine), "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = b.dir, b.environment(machine)
	errs, err := os.Create(filepath.Join(b.dir, machine+".err"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer errs.Close()
	cmd.Stderr = errs
	return b.begin(cmd)
}

// says waits until the server of a machine has said something.
func (b *clusterBench) says(machine, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, machine+".err")
	for limit := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		said, _ := os.ReadFile(path)
		if strings.Contains(string(said), text) {
			return
		}
		if time.Now().After(limit) {
			b.t.Fatalf("%s does not say %q:\n%s", machine, text, said)
		}
	}
}

// run runs a room on a machine to its end, and returns its id.
func (b *clusterBench) run(machine string) string {
	b.t.Helper()
	return anyRoom.FindString(b.repeated(5, machine, "run", "room.yaml", "--headless"))
}

// verify checks the chains of rooms, as a machine sees them.
func (b *clusterBench) verify(machine string, rooms ...string) {
	b.t.Helper()
	for _, id := range rooms {
		if out := b.repeated(0, machine, "transcript", "verify", id); !strings.Contains(out, " events intact") {
			b.t.Errorf("%s on %s: %s", id, machine, out)
		}
	}
}

// TestCluster runs three machines that embed their servers. One is killed, and comes back with
// other keys.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	t.Parallel()
	b := newClusterBench(t)
	if out := b.command(2, "one", "serve", "--cluster", "keys/one", "--log", "nats://127.0.0.1:1"); !strings.Contains(out, "log.url") {
		t.Errorf("serving with two places for the rooms: %s", out)
	}
	one := b.serve("one", "keys")
	b.says("one", "waits for 1 of 2 other machines: three (127.0.0.1:")
	two, three := b.serve("two", "keys"), b.serve("three", "keys")
	for _, m := range []*running{one, two, three} {
		m.until(t, "http://")
	}
	if out := b.command(1, "one", "serve", "--cluster", "keys/one"); !strings.Contains(out, "SERVER-RUNNING") {
		t.Errorf("a second server for the same data folder: %s", out)
	}
	b.moves()
	rooms := []string{b.run("one")}
	one.Process.Kill()
	one.end()
	rooms = append(rooms, b.run("two"))
	b.verify("three", rooms...)

	b.command(0, "one", append([]string{"cluster", "init", "others"}, b.addresses...)...)
	b.serve("one", "others")
	b.says("one", "a connection was refused: ")
	b.verify("two", rooms...)
}

// moves moves the rooms of a data folder into the cluster on one machine, and back on another
// one. Their hashes stay.
func (b *clusterBench) moves() {
	b.t.Helper()
	id := b.run("laptop")
	export := func(machine string) string {
		return b.repeated(0, machine, "transcript", "export", id, "-o", "jsonl", "--level", "all")
	}
	want := export("laptop")
	b.command(0, "two", "log", "copy", "laptop", "two", "--move")
	if got := export("three"); got != want {
		b.t.Errorf("in the cluster the room is\n%s\nwant\n%s", got, want)
	}
	b.verify("one", id)
	b.command(0, "three", "log", "copy", "three", "desktop", "--move")
	if got := export("desktop"); got != want {
		b.t.Errorf("after the cluster the room is\n%s\nwant\n%s", got, want)
	}
	for _, machine := range []string{"laptop", "one"} {
		if out := b.repeated(0, machine, "ls"); strings.Contains(out, id) {
			b.t.Errorf("the room is still on %s: %s", machine, out)
		}
	}
}

// TestClusterQuorum has two of three machines killed, one come back, and all killed and started
// again.
func TestClusterQuorum(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	t.Parallel()
	b := newClusterBench(t)
	one, two, three := b.serve("one", "keys"), b.serve("two", "keys"), b.serve("three", "keys")
	for _, m := range []*running{one, two, three} {
		m.until(t, "http://")
	}
	rooms := []string{b.run("one")}
	for _, m := range []*running{one, two} {
		m.Process.Kill()
		m.end()
	}
	if out := b.command(1, "three", "ls"); !strings.Contains(out, "LOG-NATS") {
		t.Errorf("one of three machines answers alone: %s", out)
	}
	one = b.serve("one", "keys")
	one.until(t, "http://")
	rooms = append(rooms, b.run("one"))
	b.verify("three", rooms...)
	for _, m := range []*running{one, three} { // all are down then
		m.Process.Kill()
		m.end()
	}
	if out := b.command(2, "one", "serve"); !strings.Contains(out, "CLUSTER-FLAG") {
		t.Errorf("serving without --cluster: %s", out)
	}
	for _, name := range []string{"one", "two", "three"} {
		b.serve(name, "keys")
	}
	b.says("two", "socket  ")
	b.verify("two", rooms...)
}

// script starts the example for three machines in a process group of its own.
func script(t *testing.T, tmp string, out *os.File) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	program, err := exec.LookPath("moot")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("../../examples/cluster/try.sh")
	cmd.Env = append(os.Environ(), "HOME="+tmp, "TMPDIR="+tmp, "MOOT="+program, "MOOT_CACHE="+sharedCache(t))
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // it has mostly ended
	return cmd
}

// TestClusterScript runs the example: a machine is killed, and all rooms are there.
func TestClusterScript(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	out := newFile(t)
	err := script(t, tmp, out).Wait()
	said := read(t, out)
	if err != nil || !strings.HasSuffix(said, "all machines have ended\n") {
		t.Fatalf("%v\n%s", err, said)
	}
	nothingLeft(t, tmp)
}

// TestClusterScriptInterrupted interrupts the example as Ctrl-C does, while its machines start.
func TestClusterScriptInterrupted(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	out := newFile(t)
	cmd := script(t, tmp, out)
	for limit := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if up, _ := filepath.Glob(filepath.Join(tmp, "tmp.*", "*", "nats", "lock")); len(up) == 3 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("the machines do not start:\n%s", read(t, out))
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%v\n%s", err, read(t, out))
	}
	nothingLeft(t, tmp)
	if err := syscall.Kill(-cmd.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("processes are left: %v", err)
	}
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nothingLeft checks that a folder has no folder of the script any more.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "tmp.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
