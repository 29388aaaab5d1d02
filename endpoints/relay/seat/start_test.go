package seat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/share"
)

// A startingAgent is an agent with a start phase.
type startingAgent struct {
	agentFunc
	start func(context.Context, endpoint.Floor) error
}

func (a startingAgent) Start(ctx context.Context, f endpoint.Floor) error { return a.start(ctx, f) }

// startingPair is a pair whose shared agent starts by start.
func startingPair(t *testing.T, start func(context.Context, endpoint.Floor) error, speak agentFunc) *pair {
	return newPair(t, nil, func(p *pair) { p.open = func() share.Agent { return startingAgent{speak, start} } })
}

// numberedPair is a pair whose shared agents have numbers, from 1 on, and start by
// start.
func numberedPair(t *testing.T, start func(number int, f endpoint.Floor) error, answer func(number int) (endpoint.Reply, error), options ...pairOption) (p *pair, closed <-chan int) {
	opened, c := 0, make(chan int, 20)
	return newPair(t, nil, append(options, func(p *pair) {
		p.open = func() share.Agent { // the share holds a lock
			opened++
			number := opened
			return numberedAgent{
				startingAgent{
					func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) { return answer(number) },
					func(_ context.Context, f endpoint.Floor) error { return start(number, f) },
				}, func() { c <- number },
			}
		}
	})...), c
}

// A numberedAgent tells of its end.
type numberedAgent struct {
	startingAgent
	closed func()
}

func (a numberedAgent) Close() error { a.closed(); return nil }

func sayNumber(number int) (endpoint.Reply, error) {
	return endpoint.Reply{Outcome: endpoint.Said, Text: fmt.Sprint("I am ", number)}, nil
}

// askRoom asks the shared agent of a room of the host.
func (p *pair) askRoom(t *testing.T, room string) (endpoint.Reply, error) {
	t.Helper()
	q := prompt("req_"+rand.Text(), "hello")
	q.Room = room
	return p.newSeat(t, "theirs").Speak(t.Context(), q, newFloor())
}

// awaitPrepared waits until the first agent of the share is ready.
func (p *pair) awaitPrepared(t *testing.T) {
	t.Helper()
	if err := p.share.AwaitPrepared(t.Context(), "theirs"); err != nil {
		t.Fatal(err)
	}
}

// TestAgentStartsAhead checks that a share starts an agent before any request, and
// one more when a room has got it, and that it says when the first is ready.
func TestAgentStartsAhead(t *testing.T) {
	started, gate := make(chan int, 10), make(chan bool)
	p, _ := numberedPair(t, func(number int, _ endpoint.Floor) error {
		started <- number
		<-gate
		return nil
	}, sayNumber)
	if number := <-started; number != 1 {
		t.Errorf("agent %d was started first", number)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if p.share.AwaitPrepared(cancelled, "theirs") == nil {
		t.Error("the share says that the agent is ready, and it starts")
	}
	close(gate)
	p.awaitPrepared(t)
	if r, err := p.askRoom(t, "r_1"); err != nil || r.Text != "I am 1" {
		t.Fatalf("%+v, %v", r, err)
	}
	for number := 0; number != 2; { // besides the check that the room's agent is ready
		number = <-started
	}
}

// TestStandbyEnds checks that an agent which ends, or fails to start, before a room
// has it is closed and replaced, so that no room gets it.
func TestStandbyEnds(t *testing.T) {
	started, logged := make(chan endpoint.Floor, 10), make(logLines, 10)
	p, closed := numberedPair(t, func(number int, f endpoint.Floor) error {
		if number == 3 {
			return errors.New("no model is loaded")
		}
		started <- f
		return nil
	}, sayNumber, func(p *pair) { p.shareConfig.Log = slog.New(slog.NewTextHandler(logged, nil)) })
	p.awaitPrepared(t)
	ahead := <-started
	if ahead == nil {
		t.Fatal("the agent cannot tell of its end")
	}
	if _, err := ahead.Raise(t.Context(), endpoint.Signal{Kind: endpoint.SignalExited, Code: endpoint.ExitedRestarts, Detail: "killed"}); err != nil {
		t.Fatal(err)
	}
	logged.await("has ended before a room used it", "killed")
	for _, want := range []struct {
		room, text string
		closes     int
		log        string
	}{
		{"r_a", "I am 2", 1, "no model is loaded"}, // 3 is started ahead, and fails
		{"r_b", "I am 4", 3, ""},
		{"r_a", "I am 2", 0, ""},
		{"r_c", "I am 5", 0, ""},
	} {
		if r, err := p.askRoom(t, want.room); err != nil || r.Text != want.text {
			t.Errorf("%s: %+v, %v, want %q", want.room, r, err, want.text)
		}
		if want.closes > 0 {
			if number := <-closed; number != want.closes {
				t.Errorf("agent %d was closed, want %d", number, want.closes)
			}
		}
		if want.log != "" {
			logged.await("cannot be started", want.log)
		}
	}
}

// logLines has the lines of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// await waits for a line with all words.
func (l logLines) await(words ...string) {
	for {
		line := <-l
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return
		}
	}
}

// TestStartIsOffTheClock checks that the start-up of a shared agent, the first one
// and that after its end, takes nothing from the time of its turn.
func TestStartIsOffTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left []time.Duration
		p := startingPair(t, func(ctx context.Context, _ endpoint.Floor) error {
			select {
			case <-time.After(40 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, func(ctx context.Context, q endpoint.Prompt, _ endpoint.Floor) (endpoint.Reply, error) {
			end, _ := ctx.Deadline()
			left = append(left, time.Until(end), q.Timeout)
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		})
		for _, id := range []string{"req_1", "req_2"} {
			q := prompt(id, "hello")
			q.Timeout = 100 * time.Second
			if r, err := p.seat.Speak(t.Context(), q, newFloor()); err != nil || r.Text != "yes" {
				t.Errorf("%s: %+v, %v", id, r, err)
			}
		}
		for _, d := range left {
			if d != 100*time.Second {
				t.Errorf("the agent has %v of its turn's 100 s", d)
			}
		}
		if len(left) != 4 {
			t.Errorf("the agent was asked %d times", len(left)/2)
		}
		p.stopHost()
		p.stopShare()
	})
}

// TestBidDuringStart checks that a bid does not wait for the start of its agent
// longer than a bid may take, and that the start goes on for the turn.
func TestBidDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		begun := time.Now()
		p := startingPair(t, func(context.Context, endpoint.Floor) error {
			if starts.Add(1) == 1 {
				time.Sleep(30 * time.Second)
			}
			return nil
		}, func(context.Context, endpoint.Prompt, endpoint.Floor) (endpoint.Reply, error) {
			return endpoint.Reply{Outcome: endpoint.Said, Text: "yes"}, nil
		})
		bid := prompt("req_1", "hello")
		bid.Kind, bid.Timeout = endpoint.Bid, 5*time.Second
		if _, err := p.seat.Speak(t.Context(), bid, newFloor()); !errors.Is(err, endpoint.ErrTimeout) {
			t.Errorf("the bid: %v", err)
		}
		q := prompt("req_2", "hello")
		q.Timeout = time.Minute
		if r, err := p.seat.Speak(t.Context(), q, newFloor()); err != nil || r.Text != "yes" || time.Since(begun) != 30*time.Second {
			t.Errorf("the turn after %v: %+v, %v", time.Since(begun), r, err)
		}
		p.stopHost()
		p.stopShare()
	})
}

// TestFailedStart checks that a turn whose agent does not get ready fails with the
// reason, without asking the agent, and that the next turn starts it again.
func TestFailedStart(t *testing.T) {
	fail, asked := make(chan error, 1), 0
	p, _ := numberedPair(t, func(number int, _ endpoint.Floor) error {
		switch number {
		case 1:
			return errors.New("the first")
		case 2:
			return <-fail
		}
		return nil
	}, func(number int) (endpoint.Reply, error) {
		asked++
		return sayNumber(number)
	})
	p.awaitPrepared(t)
	fail <- errors.New("no model is loaded")
	if _, err := p.askRoom(t, "r_1"); err == nil || !strings.Contains(err.Error(), "no model") || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	fail <- nil
	if r, err := p.askRoom(t, "r_1"); err != nil || asked != 1 || r.Text != "I am 2" {
		t.Errorf("asked %d times, %+v, %v", asked, r, err)
	}
}
