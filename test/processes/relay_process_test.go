//go:build linux

package processes

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/client"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/relaycmd"
)

// relayPair is two devices that are paired through a relay. stop takes them
// offline and waits.
func relayPair(t *testing.T, url string, names [2]string) (ctx context.Context, a, b *relaytest.Device, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	stop = func() { cancel(); work.Wait() }
	t.Cleanup(stop)
	a = relaytest.NewDevice(ctx, t, &work, names[0], client.Config{URL: url})
	b = relaytest.NewDevice(ctx, t, &work, names[1], client.Config{URL: url})
	b.Pair(ctx, a, "canary-capability")
	return ctx, a, b, stop
}

// A whisper is what two devices have told each other through a relay, and one
// text that went in the clear, as no device sends any.
type whisper struct {
	a, b     *relaytest.Device
	canaries []string
	control  string
	stop     func()
}

// whisperThrough has two devices tell each other 32 texts, names and a
// capability among them.
func whisperThrough(t *testing.T, url string) *whisper {
	t.Helper()
	w := &whisper{control: fmt.Sprintf("canary-in-the-clear-%016x", rand.Uint64())}
	for i := range 32 {
		w.canaries = append(w.canaries, fmt.Sprintf("canary-%02d-%016x", i, rand.Uint64()))
	}
	var ctx context.Context
	ctx, w.a, w.b, w.stop = relayPair(t, url, [2]string{w.canaries[0], w.canaries[1]})
	for _, c := range w.canaries[2:] {
		if err := w.a.Send(ctx, w.b.ID(), []byte(c)); err != nil {
			t.Fatal(err)
		}
		if _, m, err := w.b.NextMessage(ctx); err != nil || m != c {
			t.Fatalf("%q, %v", m, err)
		}
	}
	if err := w.a.Client.Send(ctx, w.b.ID(), []byte(w.control)); err != nil {
		t.Fatal(err)
	}
	if err := w.a.Send(ctx, w.b.ID(), []byte("behind it")); err != nil { // so that the relay has had it
		t.Fatal(err)
	}
	w.canaries = append(w.canaries, "canary-capability")
	return w
}

// TestRelayLearnsNothing: of 32 texts that two devices tell each other, a
// relay holds none in its memory, its log or its counters, in any of eight
// encodings, nor a device id in what it says.
func TestRelayLearnsNothing(t *testing.T) {
	r := newWorkbench(t, nil).start("relay", "--listen", "127.0.0.1:0", "--open", "--log-level", "debug", "--log-peers", "--metrics", "127.0.0.1:0", "-o", "jsonl")
	at := r.ready(t)
	w := whisperThrough(t, at.URL)
	memory, said := memoryOf(t, r.Process.Pid), counters(t, at.Metrics)
	w.stop()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != app.ExitOK {
		t.Errorf("exit code %d\n%s", code, r.stderr)
	}
	said += r.stderr.String()
	for name, text := range map[string][]byte{"memory": memory, "log and counters": []byte(said)} {
		if found := relaytest.FindCanaries(text, w.canaries...); found != nil {
			t.Errorf("its %s hold %q", name, found)
		}
	}
	if relaytest.FindCanaries(memory, w.control) == nil {
		t.Error("what was sent in the clear is not in the memory: the search is broken")
	}
	idA, idB := w.a.ID(), w.b.ID()
	for _, secret := range []string{w.control, idA.String()[:13], idB.String()[:13], string(idA[:]), string(idB[:])} {
		if relaytest.FindCanaries([]byte(said), secret) != nil {
			t.Errorf("its log or counters hold %q", secret)
		}
	}
	if !strings.Contains(said, "to=") {
		t.Error("the log does not say who sends to whom, though it was asked to")
	}
}

// ready waits for what the relay says when it accepts connections.
func (r *running) ready(t *testing.T) (at relaycmd.RunningRelay) {
	t.Helper()
	decodeLine(t, r.until(t, "url"), &at)
	return at
}

// memoryOf returns everything that a process of ours has in writable memory.
func memoryOf(t *testing.T, pid int) (all []byte) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the memory of a child process cannot be read here: ", err)
	}
	defer mem.Close()
	for sc := bufio.NewScanner(bytes.NewReader(maps)); sc.Scan(); {
		var from, to int64
		if !strings.Contains(sc.Text(), " rw") {
			continue
		}
		if _, err := fmt.Sscanf(sc.Text(), "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		part := make([]byte, to-from)
		if n, err := mem.ReadAt(part, from); err == nil || n > 0 { // some, as [vvar], cannot be read
			all = append(all, used(part[:n])...)
		}
	}
	return all
}

// used leaves out pages that hold nothing, which are most.
func used(memory []byte) (all []byte) {
	empty := make([]byte, os.Getpagesize())
	for page := range slices.Chunk(memory, len(empty)) {
		if !bytes.Equal(page, empty) {
			all = append(all, page...)
		}
	}
	return all
}

// TestRelayKilled: a relay that is killed again and again, and started again
// on its address, loses nothing that two devices tell each other, and repeats
// nothing.
func TestRelayKilled(t *testing.T) {
	w := newWorkbench(t, nil)
	start := func(listen string) (*running, relaycmd.RunningRelay) {
		r := w.start("relay", "--listen", listen, "--open", "-o", "jsonl")
		return r, r.ready(t)
	}
	r, at := start("127.0.0.1:" + freePort(t))
	ctx, a, b, stop := relayPair(t, at.URL, [2]string{"a", "b"})
	defer stop()
	const messages = 30
	sent := make(chan error, 1)
	go func() {
		for i := range messages {
			if err := a.Send(ctx, b.ID(), fmt.Appendf(nil, "message %d", i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range messages {
		_, m, err := b.NextMessage(ctx)
		if want := fmt.Sprintf("message %d", i); err != nil || m != want {
			t.Fatalf("%q, %v, want %q", m, err, want)
		}
		if i%10 == 5 {
			if err := r.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			r.end()
			r, _ = start(at.Host)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestRelayReadsAgain: at SIGHUP a relay takes the tokens that are in its file
// now, and keeps those that it has when the file is not there.
func TestRelayReadsAgain(t *testing.T) {
	w := newWorkbench(t, map[string]string{"tokens": "the first token, long enough\n"})
	log, err := os.Create(filepath.Join(w.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	relay := exec.Command("moot", "relay", "--listen", "127.0.0.1:0", "--tokens", "tokens", "-o", "jsonl")
	relay.Dir, relay.Env, relay.Stderr = w.dir, w.env, log
	r := w.begin(relay)
	at := r.ready(t)
	letIn := func(token string) bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d, err := identity.Generate(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		in := make(chan bool, 10)
		c, err := client.New(client.Config{
			URL: at.URL, Device: frame.ID(d.ID()), Signer: d, Token: token, Changed: func(s client.Status) { in <- s.Connected },
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		select {
		case yes := <-in:
			cancel()
			<-ended
			return yes
		case err := <-ended:
			return err == nil
		}
	}
	reload := func(token string, remove bool, now, before, says string) {
		t.Helper()
		if remove {
			if err := os.Remove(w.dir + "/tokens"); err != nil {
				t.Fatal(err)
			}
		} else {
			w.write("tokens", token+"\n")
		}
		if err := r.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) { // only its log tells
			text, err := os.ReadFile(log.Name())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), says) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("it does not say %q:\n%s", says, text)
			}
		}
		if !letIn(now) || letIn(before) {
			t.Fatalf("%q is not let in, or %q still is", now, before)
		}
	}
	if !letIn("the first token, long enough") || letIn("the second token, long enough") {
		t.Fatal("the relay does not let in by its tokens")
	}
	reload("the second token, long enough", false, "the second token, long enough", "the first token, long enough", "read again: 1 tokens, 0 devices")
	reload("", true, "the second token, long enough", "the first token, long enough", "tokens and devices stay as they were")
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != app.ExitOK {
		t.Errorf("exit code %d", code)
	}
}
