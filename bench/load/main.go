// Command load measures how many rooms, turns and watchers one process carries on a real
// disk, and what three nodes carry that share a log. It prints a table of goals and figures. It asserts nothing: figures depend on the
// machine. run.sh starts it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

// A plan is how much is measured.
type plan struct {
	dir      string // in which data folders are made
	rooms    int    // live rooms
	active   int    // of them, with turns
	shared   int    // live rooms of the part nodes, a tenth of which have turns
	watchers int    // of the active rooms
	fanOut   int    // watchers of one room
	span     time.Duration
	soak     time.Duration
	engines  string // of the part nodes, separated by commas; "" is all
	profile  string // file of a profile of the processor; "" is none
	heap     string // file of a profile of the heap with all live rooms, or at the end of the growth; "" is none
}

func main() {
	p := plan{active: 1000, watchers: 2000, fanOut: 10_000, span: 30 * time.Second, soak: 30 * time.Minute}
	short := flag.Bool("short", false, "shorter measurements; the growth of the heap says little then")
	only := flag.String("only", "", "parts to measure, separated by commas: "+strings.Join(names(), ", "))
	flag.StringVar(&p.dir, "dir", os.TempDir(), "folder on the disk that is measured")
	rooms := flag.Int("rooms", 0, "live rooms (default 10,000; of the part nodes 1,000 with --short)")
	flag.IntVar(&p.fanOut, "watchers", p.fanOut, "watchers of one room")
	flag.StringVar(&p.engines, "engines", "", "engines of the part nodes, separated by commas: "+strings.Join(engineNames(), ", "))
	flag.DurationVar(&p.soak, "soak", p.soak, "how long the growth of the heap is measured")
	flag.StringVar(&p.profile, "cpuprofile", "", "file for a profile of the processor; the part nodes adds engine, step and node to the name")
	flag.StringVar(&p.heap, "heapprofile", "", "file for a profile of the heap with all live rooms, or of the growth: at its end, and at its beginning with .first")
	flag.Parse()
	if p.heap != "" {
		runtime.MemProfileRate = 4 << 10 // growth is of small objects
	}
	p.rooms, p.shared = cmp.Or(*rooms, 10_000), cmp.Or(*rooms, 10_000)
	if *short {
		p.span, p.soak, p.shared = 5*time.Second, 40*time.Second, cmp.Or(*rooms, 1000)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch flag.Arg(0) {
	case watchCommand:
		exitOn(watchSockets(flag.Args()[1:]))
	case nodeCommand:
		exitOn(runNode(ctx, flag.Args()[1:]))
	default:
		exitOn(run(ctx, p, *only))
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A part is one measurement, with a data folder of its own.
type part struct {
	name    string
	measure func(context.Context, plan, *table) error
}

var parts = []part{{"turns", measureTurns}, {"rooms", measureRooms}, {"restart", measureRestart}, {"watchers", measureWatchers}, {"growth", measureGrowth}, {"sockets", measureSockets}, {"nodes", measureNodes}}

func names() (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

func run(ctx context.Context, p plan, only string) error {
	defer profiled(p.profile)()
	fmt.Printf("%s, %d processors, load %s\n\n", runtime.Version(), runtime.GOMAXPROCS(0), load())
	t := &table{}
	for _, x := range parts {
		if only != "" && !strings.Contains(","+only+",", ","+x.name+",") {
			continue
		}
		t.head(x.name)
		if err := x.measure(ctx, p, t); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	fmt.Printf("\nload %s\n\n", load())
	t.print()
	return nil
}
