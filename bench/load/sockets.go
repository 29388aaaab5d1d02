package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

// thinkTime is how long the agents of the room think whose watchers are on sockets: with two events
// a turn, 10,000 watchers get 20,000 events a second.
const thinkTime = time.Second

// measureSockets has one room whose watchers are another process, which reads JSON lines from
// unix sockets, one for each watcher.
func measureSockets(ctx context.Context, p plan, t *table) (err error) {
	h, err := newLoadHost(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	h.think.Store(int64(thinkTime))
	id, err := h.open(ctx, "works", forever, moot.Options{})
	if err != nil {
		return err
	}
	socket := filepath.Join(h.dir, "s")
	stop, err := h.serve(ctx, socket)
	if err != nil {
		return err
	}
	defer stop()
	h.observe(ctx, &observation{}, 4*time.Second) // until the policy is compiled
	before := &observation{}
	h.observe(ctx, before, p.span)
	v, err := h.View(ctx, id, room.UserVisible)
	if err != nil {
		return err
	}
	w, err := startWatchers(ctx, socket, id, v.Seq, p.fanOut)
	if err != nil {
		return err
	}
	h.observe(ctx, &observation{}, 4*time.Second) // until all are served alike
	used := processor()
	if err := w.say("begin"); err != nil {
		return err
	}
	with := &observation{}
	span := h.observe(ctx, with, p.span)
	used = processor() - used
	seen, err := w.end()
	if err != nil {
		return err
	}
	name := "one room with " + strconv.Itoa(p.fanOut) + " watchers on sockets, in another process: "
	t.add(name+"deliveries/s", "all", "%.0f of %.0f; %d watchers left", float64(seen.Events)/span.Seconds(), float64(2*len(with.gaps)*p.fanOut)/span.Seconds(), seen.Lost)
	t.add(name+"from the time of an event, its append included, to the watcher, p50 and p99", "p99 <= 200 ms", "%s, %s", ms(percentile(seen.Delays, .5)), ms(percentile(seen.Delays, .99)))
	n := max(1, float64(seen.Events))
	t.add(name+"processor time of a delivery, server and watchers", "", "%.1f us, %.1f us", float64(used.Microseconds())/n, float64(seen.Used.Microseconds())/n)
	t.add(name+"how much longer a turn takes whose agent thinks 1 s", "<= 5 %", "%+.1f %%", 100*((thinkTime+mean(with.gaps)).Seconds()/(thinkTime+mean(before.gaps)).Seconds()-1))
	return nil
}

// serve answers requests on a unix socket, as `moot serve` does.
func (h *loadHost) serve(ctx context.Context, socket string) (stop func(), err error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	s := server.New(server.Config{Host: h.Host})
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(ctx, l, s.SocketHandler()) }) // it ends with ctx
	return func() {
		cancel()
		serving.Wait()
	}, nil
}

// A watcherProcess is a process of watchers.
type watcherProcess struct {
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Reader
}

// startWatchers returns when all watchers have an answer of the server.
func startWatchers(ctx context.Context, socket, id string, after int64, n int) (*watcherProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.CommandContext(ctx, program, watchCommand, socket, id, strconv.FormatInt(after, 10), strconv.Itoa(n))
	cmd.Stdin, cmd.Stderr = read, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	w := &watcherProcess{cmd, in, bufio.NewReader(out)}
	if line, err := w.out.ReadString('\n'); line != "ready\n" {
		_, ended := w.end()
		return nil, errors.Join(fmt.Errorf("the watchers said %q", line), err, ended)
	}
	return w, nil
}

func (w *watcherProcess) say(line string) error {
	_, err := fmt.Fprintln(w.in, line)
	return err
}

// end ends the process and returns what it has seen since it was told to begin.
func (w *watcherProcess) end() (seen seenEvents, err error) {
	err = w.in.Close()
	line, readErr := w.out.ReadBytes('\n')
	if readErr == nil {
		readErr = json.Unmarshal(line, &seen)
	}
	return seen, errors.Join(err, readErr, w.cmd.Wait())
}

// watchCommand is the first argument of a process of watchers.
const watchCommand = "watch"

// seenEvents is what a process of watchers prints at its end.
type seenEvents struct {
	Events, Lost int64
	Delays       []time.Duration
	Used         time.Duration // of the processor
}

// A watching is a process of watchers.
type watching struct {
	mu   sync.Mutex
	on   bool
	seen seenEvents
}

// watchSockets watches a room until its standard input ends.
func watchSockets(args []string) error {
	if len(args) != 4 {
		return errors.New("watch needs a socket, a room, the number of an event and that of the watchers")
	}
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	w := &watching{}
	for i := range n {
		body, err := subscribe(args[0], args[1], args[2])
		if err != nil {
			return fmt.Errorf("watcher %d: %w", i, err)
		}
		go w.read(body, i%50 == 0) // it ends with the process
	}
	fmt.Println("ready")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	before := processor()
	w.mu.Lock()
	w.on = true
	w.mu.Unlock()
	_, _ = in.ReadString('\n') // the end of the input
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Used = processor() - before
	return json.NewEncoder(os.Stdout).Encode(w.seen)
}

// subscribe opens a connection and asks for the events of a room.
func subscribe(socket, id, after string) (*bufio.Reader, error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c, "GET /api/rooms/%s/events?after=%s&level=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", id, after, room.UserVisible); err != nil {
		return nil, err
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", r.Status)
	}
	return bufio.NewReader(r.Body), nil
}

// read counts the events of one watcher. One of many measures how late they are.
func (w *watching) read(lines *bufio.Reader, timed bool) {
	for {
		line, err := lines.ReadBytes('\n')
		now := time.Now()
		var u struct{ Event *struct{ At time.Time } }
		if err == nil && timed {
			err = json.Unmarshal(line, &u)
		}
		w.mu.Lock()
		switch {
		case err != nil:
			w.seen.Lost++
			w.mu.Unlock()
			return
		case !w.on || len(line) < 2: // an empty line says that the server is there
		case timed && u.Event != nil:
			w.seen.Delays = append(w.seen.Delays, now.Sub(u.Event.At))
			fallthrough
		default:
			w.seen.Events++
		}
		w.mu.Unlock()
	}
}
