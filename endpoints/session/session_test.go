package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/session"
	"github.com/folkmoot/moot/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = session.Seat{Room: "r", Name: "ann"}

// A reports is a room that records what it is told.
type reports struct {
	mu     sync.Mutex
	began  time.Time
	told   []string
	refuse error
}

func (r *reports) present(_ context.Context, s session.Seat, _ session.Holder, p room.Presence) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, fmt.Sprintf("%s %s at %v", s.Name, p, time.Since(r.began)))
	return r.refuse
}

func (r *reports) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return strings.Join(told, ", ")
}

// bubble runs a test with a broker in a bubble of its own time.
func bubble(t *testing.T, run func(t *testing.T, b *session.Broker, r *reports)) {
	synctest.Test(t, func(t *testing.T) {
		r := &reports{began: time.Now()}
		b := session.NewBroker(session.Config{Present: r.present})
		defer b.Close()
		run(t, b, r)
	})
}

func prompt(request string) endpoint.Prompt {
	return endpoint.Prompt{Kind: endpoint.Turn, Request: request, Epoch: 3, Turn: 7, Timeout: 300 * time.Second, Text: "What now?", Instructions: "Be brief."}
}

// speak parks a prompt as a room does. end ends the turn; err is that of Speak.
func speak(t *testing.T, b *session.Broker, p endpoint.Prompt) (end func() error) {
	ctx, cancel := endpoint.WithClock(t.Context(), p.Timeout)
	done := make(chan error, 1)
	go func() {
		_, err := b.Endpoint(ann).Speak(ctx, p, nil)
		done <- err
	}()
	synctest.Wait()
	return func() error {
		cancel()
		return <-done
	}
}

func expect(t *testing.T, r *reports, want string) {
	t.Helper()
	synctest.Wait()
	if got := r.String(); got != want {
		t.Errorf("the room was told %q, want %q", got, want)
	}
}

// TestLease checks when a seat is live, idle and away without a turn.
func TestLease(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		if _, ok, err := b.Await(t.Context(), ann, session.Holder{}, 25*time.Second); ok || err != nil {
			t.Fatalf("a turn: %t, %v", ok, err)
		}
		expect(t, r, "ann live at 0s")
		time.Sleep(4 * time.Second)
		if _, ok, err := b.Await(t.Context(), ann, session.Holder{}, time.Hour); ok || err != nil {
			t.Fatalf("a turn: %t, %v", ok, err)
		}
		expect(t, r, "ann live at 29s") // the next await tells the room again, and there is no idle between them
		time.Sleep(50 * time.Second)
		expect(t, r, "ann idle at 1m29s") // 29 s, an await of 55 s at most, and 5 s
		time.Sleep(10 * time.Second)
		expect(t, r, "ann away at 2m24s")
		time.Sleep(time.Hour)
		expect(t, r, "")
	})
}

// TestTurn checks that a session is given its turn again and again, and has until
// its deadline.
func TestTurn(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		var got session.Turn
		var given bool
		done := make(chan struct{})
		go func() {
			got, given, _ = b.Await(t.Context(), ann, session.Holder{}, 25*time.Second)
			close(done)
		}()
		synctest.Wait()
		time.Sleep(10 * time.Second)
		end := speak(t, b, prompt("q1"))
		<-done
		if !given || got.ID != "q1" || got.Epoch != 3 || got.Number != 7 || got.Text != "Be brief.\n\nWhat now?" || time.Until(got.Deadline) != 300*time.Second {
			t.Fatalf("given %t: %+v", given, got)
		}
		time.Sleep(2 * time.Minute)
		again, ok, err := b.Await(t.Context(), ann, session.Holder{}, 0)
		if !ok || err != nil || again.Request != got.Request || again.Text != got.Text {
			t.Fatalf("the second time: %+v, %t, %v", again, ok, err)
		}
		expect(t, r, "ann live at 0s, ann idle at 15s, ann live at 2m10s")
		if g, ok := b.Given(ann); !ok || g != got.Request {
			t.Errorf("given: %+v", g)
		}
		if err := end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(time.Hour) // the lease runs from the end of the turn
		expect(t, r, "ann idle at 2m15s, ann away at 3m10s")
		if _, ok, _ := b.Await(t.Context(), ann, session.Holder{}, 0); ok {
			t.Error("a turn that has ended is given")
		}
	})
}

// TestLeft checks that a seat whose session does not answer in time is away, and one
// that was not given its turn when its lease ends.
func TestLeft(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		_, _, _ = b.Await(t.Context(), ann, session.Holder{}, time.Second)
		end := speak(t, b, prompt("q1"))
		time.Sleep(2 * time.Minute)
		expect(t, r, "ann live at 0s, ann idle at 6s, ann away at 1m1s")
		if _, ok, _ := b.Await(t.Context(), ann, session.Holder{}, time.Second); !ok {
			t.Fatal("the turn is not given")
		}
		time.Sleep(10 * time.Minute)
		expect(t, r, "ann live at 2m1s, ann idle at 2m6s, ann away at 5m1s")
		if err := end(); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestPolls checks that a session that awaits at the deadline keeps its lease: its
// turn has failed.
func TestPolls(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		_, _, _ = b.Await(t.Context(), ann, session.Holder{}, 0)
		end := speak(t, b, prompt("q1"))
		for range 29 {
			if _, ok, _ := b.Await(t.Context(), ann, session.Holder{}, 0); !ok {
				t.Fatal("the turn is not given")
			}
			time.Sleep(10 * time.Second)
		}
		_ = r.String()
		time.Sleep(9 * time.Second)
		go func() { _, _, _ = b.Await(t.Context(), ann, session.Holder{}, 50*time.Second) }()
		synctest.Wait()
		time.Sleep(2 * time.Second)
		_ = end()
		time.Sleep(time.Hour)
		expect(t, r, "ann live at 4m59s, ann idle at 5m4s, ann away at 5m59s")
	})
}

// TestTakeOver checks that the newest await of a seat wins, and the older one is told.
func TestTakeOver(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		older := make(chan error, 1)
		go func() {
			_, _, err := b.Await(t.Context(), ann, session.Holder{}, time.Minute)
			older <- err
		}()
		synctest.Wait()
		newer := make(chan session.Turn, 1)
		go func() {
			got, _, _ := b.Await(t.Context(), ann, session.Holder{}, time.Minute)
			newer <- got
		}()
		if err := <-older; !errors.Is(err, session.ErrTakenOver) {
			t.Error(err)
		}
		end := speak(t, b, prompt("q1"))
		if got := <-newer; got.ID != "q1" {
			t.Errorf("the newer one got %+v", got)
		}
		_ = end()
		expect(t, r, "ann live at 0s, ann live at 0s")
	})
}

// TestRefused checks that the refusal of the room is that of the await, that an await
// ends with its context and with the broker, and that bids are refused.
func TestRefused(t *testing.T) {
	bubble(t, func(t *testing.T, b *session.Broker, r *reports) {
		r.refuse = room.ErrOver
		if _, _, err := b.Await(t.Context(), ann, session.Holder{}, time.Minute); !errors.Is(err, room.ErrOver) {
			t.Error(err)
		}
		r.refuse = nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := b.Await(ctx, ann, session.Holder{}, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if _, err := b.Endpoint(ann).Speak(t.Context(), endpoint.Prompt{Kind: endpoint.Bid}, nil); !errors.Is(err, endpoint.ErrAgent) {
			t.Error(err)
		}
		closed := make(chan error, 1)
		go func() {
			_, _, err := b.Await(t.Context(), ann, session.Holder{}, time.Minute)
			closed <- err
		}()
		synctest.Wait()
		if err := errors.Join(b.Close(), b.Endpoint(ann).Close()); err != nil {
			t.Error(err)
		}
		if err := <-closed; !errors.Is(err, session.ErrClosed) {
			t.Error(err)
		}
		if _, _, err := b.Await(t.Context(), ann, session.Holder{}, 0); !errors.Is(err, session.ErrClosed) {
			t.Error(err)
		}
	})
}
