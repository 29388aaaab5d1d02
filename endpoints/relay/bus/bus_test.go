package bus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// events is a receiver that writes down what it is told.
type events chan string

func (e events) Receive(to frame.ID, message []byte) { e <- fmt.Sprintf("%x: %s", to[0], message) }
func (e events) Undelivered(from, to frame.ID)       { e <- fmt.Sprintf("%x has no %x", from[0], to[0]) }
func (e events) Overflowed(int)                      { e <- "overflowed" }
func (e events) Connected(err error)                 { e <- fmt.Sprint("connected: ", err == nil) }

// until waits for an event and ignores others about the connection.
func (e events) until(t *testing.T, want string) {
	t.Helper()
	for got := range e {
		if got == want {
			return
		}
		if !strings.HasPrefix(got, "connected") {
			t.Fatalf("%q instead of %q", got, want)
		}
	}
}

// connect runs a bus until the test ends.
func connect(t *testing.T, url string) (*bus.Bus, events) {
	t.Helper()
	b, err := bus.Connect(bus.Config{URL: url, Timeout: time.Minute}) // a busy machine loses no frame
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	told := make(events, 1000)
	var work sync.WaitGroup
	work.Go(func() { b.Run(ctx, told) })
	t.Cleanup(func() { cancel(); work.Wait(); b.Close() })
	return b, told
}

func send(t *testing.T, b *bus.Bus, from, to frame.ID, text string) {
	t.Helper()
	if err := b.Publish(bus.Message{To: to, Body: []byte(text), From: &from}); err != nil {
		t.Fatal(err)
	}
}

// TestBus: a message reaches the bus that has subscribed for its device, in the
// group of its sender, and the sender is told when there is none.
func TestBus(t *testing.T) {
	n := relaytest.StartNATS(t, "apassword")
	one, toOne := connect(t, n.URL("group"))
	two, toTwo := connect(t, n.URL("group"))
	other, _ := connect(t, n.URL("other"))
	a, b := frame.ID{0xa}, frame.ID{0xb}
	ready, cancel := two.Subscribe(b)
	ready()
	ready, _ = other.Subscribe(a)
	ready()
	for i := range 100 {
		send(t, one, a, b, fmt.Sprint("message ", i))
	}
	for i := range 100 {
		toTwo.until(t, fmt.Sprintf("b: message %d", i))
	}
	send(t, two, b, a, "to a device of another group")
	toTwo.until(t, "b has no a")
	if err := two.Publish(bus.Message{To: a, Body: []byte("nobody waits for the answer")}); err != nil {
		t.Fatal(err)
	}
	cancel()
	ready, _ = two.Subscribe(a) // the server has processed the end of the subscription too
	ready()
	send(t, one, a, b, "too late")
	toOne.until(t, "a has no b")
}

// TestOverflow: of messages that come faster than they are taken, a bounded number
// waits, and the loss of others is reported.
func TestOverflow(t *testing.T) {
	n := relaytest.StartNATS(t, "")
	b, err := bus.Connect(bus.Config{URL: n.URL("g"), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	a := frame.ID{0xa}
	ready, _ := b.Subscribe(a)
	ready()
	other, _ := connect(t, n.URL("g"))
	for i := range 2000 {
		send(t, other, frame.ID{0xb}, a, fmt.Sprint("message ", i))
	}
	ready, _ = other.Subscribe(frame.ID{0xb}) // the server has all of them
	ready()
	ready, _ = b.Subscribe(frame.ID{0xc}) // and has sent them before its answer
	ready()
	told := make(events, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { b.Run(ctx, told) })
	received, overflowed := 0, false
	for got := range told {
		if got == "overflowed" {
			overflowed = true
		} else if strings.HasPrefix(got, "a: ") {
			if received++; got != fmt.Sprint("a: message ", received-1) {
				t.Errorf("%q after %d messages", got, received-1)
			}
		}
		if overflowed && received == 1024 {
			break
		}
	}
	cancel()
	work.Wait()
	for len(told) > 0 {
		if got := <-told; strings.HasPrefix(got, "a: ") {
			t.Errorf("%q after 1,024 messages", got)
		}
	}
}

// TestServerRestarts: subscriptions hold again when a server is back, and
// publishing fails meanwhile.
func TestServerRestarts(t *testing.T) {
	n := relaytest.StartNATS(t, "")
	one, toOne := connect(t, n.URL("g"))
	two, toTwo := connect(t, n.URL("g"))
	a, b := frame.ID{0xa}, frame.ID{0xb}
	ready, _ := one.Subscribe(a)
	ready()
	toOne.until(t, "connected: true")
	toTwo.until(t, "connected: true")
	n.Stop()
	toOne.until(t, "connected: false")
	toTwo.until(t, "connected: false")
	if err := two.Publish(bus.Message{To: a}); err == nil {
		t.Error("published without a server")
	}
	ready, _ = two.Subscribe(b) // while there is no server
	ready()
	n.Start()
	toOne.until(t, "connected: true")
	toTwo.until(t, "connected: true")
	send(t, two, b, a, "back")
	toOne.until(t, "a: back")
	send(t, one, a, b, "you too")
	toTwo.until(t, "b: you too")
}

// TestWithoutServer: a bus that finds no server, or is refused, says so and
// connects when it can. Its errors and its log have no password.
func TestWithoutServer(t *testing.T) {
	n := relaytest.StartNATS(t, "rightpassword")
	right := n.URL("g")
	var log strings.Builder
	for url, want := range map[string]string{
		strings.Replace(right, "right", "wrong", 1): "the servers refuse the user, the password or the token",
		"nats://user:secret@127.0.0.1:1":            "no server answers",
	} {
		b, err := bus.Connect(bus.Config{URL: url, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var got error
		b.Run(ctx, stopAtFirst(func(err error) { got = err; cancel() }))
		b.Close()
		if got == nil || got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if strings.Contains(log.String(), "wrongpassword") || strings.Contains(log.String(), "secret") {
		t.Errorf("the log has a password:\n%s", &log)
	}
}

type stopAtFirst func(error)

func (stopAtFirst) Receive(frame.ID, []byte)       {}
func (stopAtFirst) Undelivered(frame.ID, frame.ID) {}
func (stopAtFirst) Overflowed(int)                 {}
func (f stopAtFirst) Connected(err error)          { f(err) }

// TestURLs: a wrong URL is refused without its password.
func TestURLs(t *testing.T) {
	for _, url := range []string{
		"", "127.0.0.1:4222", "http://u:secret@h", "nats://", "nats://u:secret@h:port", "nats://u:secret@h/a.b", "nats://u:secret@h/a/b", "nats://u:secret@h/>",
		"nats://u:secret@h?x=secret", "nats://u:secret@one,two", "nats://u:sec,ret@one", "nats://u:secret@h/" + strings.Repeat("a", 65), "nats://u:se\x00cret@h",
	} {
		b, err := bus.Connect(bus.Config{URL: url})
		if err == nil {
			b.Close()
			t.Errorf("%q was accepted", url)
		} else if strings.Contains(err.Error(), "sec") || strings.Contains(fmt.Sprint(errors.Unwrap(err)), "sec") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestForeignMessages: messages on the subjects of a group that no relay sends are
// ignored, and the bus goes on.
func TestForeignMessages(t *testing.T) {
	n := relaytest.StartNATS(t, "")
	b, told := connect(t, n.URL("g"))
	hostile, err := nats.Connect(strings.TrimSuffix(n.URL(""), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer hostile.Close()
	watch, err := hostile.SubscribeSync("g.>") // sees where the bus wants its replies
	if err != nil {
		t.Fatal(err)
	}
	if err := hostile.Flush(); err != nil {
		t.Fatal(err)
	}
	a := frame.ID{0xa}
	ready, _ := b.Subscribe(a)
	ready()
	send(t, b, a, frame.ID{0xb}, "to a device of no relay")
	m, err := watch.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	reply := m.Reply[:strings.LastIndex(m.Reply, ".")]
	mailbox := m.Subject[:strings.LastIndex(m.Subject, ".")+1] + reply[strings.LastIndex(reply, ".")+1:]
	withHeader := nats.Header{"Status": {"100"}}
	for _, m := range []*nats.Msg{
		{Subject: reply + ".x"},
		{Subject: m.Reply},
		{Subject: m.Reply, Header: nats.Header{"Status": {"503"}}, Data: []byte("and more")},
		{Subject: strings.ToUpper(m.Reply[len(m.Reply)-3:])},
		{Subject: mailbox, Header: withHeader, Data: []byte("with a header")},
	} {
		if err := hostile.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := hostile.Publish(mailbox, []byte("the next")); err != nil {
		t.Fatal(err)
	}
	told.until(t, "a: the next")
}
