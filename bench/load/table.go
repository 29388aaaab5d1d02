package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A table has the figures, with their goals.
type table struct{ rows [][3]string }

// head says which part is measured now.
func (t *table) head(name string) { fmt.Fprintln(os.Stderr, "measuring", name) }

// add adds a figure. The goal is "" for one that has none.
func (t *table) add(what, goal, format string, figure ...any) {
	row := [3]string{what, goal, fmt.Sprintf(format, figure...)}
	t.rows = append(t.rows, row)
	fmt.Fprintf(os.Stderr, "  %s: %s\n", row[0], row[2])
}

// print prints the table as Markdown.
func (t *table) print() {
	fmt.Println("| what | goal | figure |\n|---|---|---|")
	for _, r := range t.rows {
		fmt.Printf("| %s | %s | %s |\n", r[0], r[1], r[2])
	}
}

// load returns the load of the machine, of which this program is a part.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(b)); err == nil && len(f) > 0 {
		return f[0]
	}
	return "unknown"
}

// profiled writes a profile of the processor to a file until done is called.
func profiled(file string) (done func()) {
	if file == "" {
		return func() {}
	}
	f, err := os.Create(file)
	if err != nil || pprof.StartCPUProfile(f) != nil {
		fmt.Fprintln(os.Stderr, "no profile:", err)
		return func() {}
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // the profile is for this run only
	}
}

// writeHeap writes a profile of the heap to a file, unless its name is "".
func writeHeap(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// percentile returns the value below which that part of all is.
func percentile(all []time.Duration, part float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(part*float64(len(all))))]
}

// ms prints a duration in milliseconds.
func ms(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}
