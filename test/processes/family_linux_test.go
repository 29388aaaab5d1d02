package processes

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// family returns the processes that were started in a workbench, by the home
// folder that they were given, and whatever else is in their groups; of none
// where dir is "".
func family(t *testing.T, dir string, except ...int) (pids []int) {
	t.Helper()
	if dir == "" {
		return nil
	}
	groups, of := map[string]bool{}, map[int]string{}
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environs {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		group := groupOf(pid)
		if group == "" || slices.Contains(except, pid) {
			continue
		}
		of[pid] = group
		env, _ := os.ReadFile(path) // it may have ended
		if strings.Contains("\x00"+string(env), "\x00HOME="+filepath.Join(dir, "home")+"\x00") {
			groups[group] = true
			pids = append(pids, pid)
		}
	}
	own := groupOf(os.Getpid()) // moot itself is in ours
	for pid, group := range of {
		if groups[group] && group != own && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// groupOf is the process group of a process, "" once that has ended.
func groupOf(pid int) string { return statOf(pid)[2] }

// parentOf is the parent of a process, 0 once that has ended.
func parentOf(pid int) int {
	parent, _ := strconv.Atoi(statOf(pid)[1])
	return parent
}

// statOf returns the state, the parent and the group of a process, each "" once
// that has ended.
func statOf(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, ok := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if err != nil || !ok || len(fields) < 3 || fields[0] == "Z" {
		return make([]string, 3)
	}
	return fields[:3]
}

// vanish waits until none of the processes is left.
func vanish(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for _, pid := range pids {
		for groupOf(pid) != "" {
			if time.Now().After(deadline) {
				line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
				for _, pid := range pids {
					_ = syscall.Kill(pid, syscall.SIGKILL) // or it would hold up others' tests
				}
				t.Fatalf("process %d has outlived moot: %s", pid, strings.ReplaceAll(string(line), "\x00", " "))
			}
			time.Sleep(5 * time.Millisecond) // nobody tells when a stranger's process ends
		}
	}
}
