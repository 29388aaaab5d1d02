package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// longRoom writes a room of so many turns into a data folder, before a server opens it,
// and returns its id. Turn n is granted by event 2n+5 and posted by the next.
func longRoom(t *testing.T, data string, turns int) string {
	t.Helper()
	d, err := sqlite.Open(sqlite.Config{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	w := writer{t: t, log: d, room: "r_long"}
	w.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: w.room, Name: "long", Objective: "read a long room", Secret: "0123456789abcdef0123456789abcdef", Policy: room.PolicyRef{Use: "roundrobin", Name: "roundrobin"}}})
	w.add(room.ActorRoom, room.Claimed{Owner: "test"})
	for _, id := range []string{"Ana", "Codebase", "DBA", "Security"} {
		p := room.Participant{ID: id, Kind: policy.Local, Mode: room.FullAuto, Session: true, Endpoint: policy.JSON(`{"kind":"session"}`)}
		if id == "Ana" {
			p = room.Participant{ID: id, Kind: policy.Human}
		}
		w.add(room.ActorHost, room.Joined{Participant: p})
	}
	for n := 1; n <= turns; n++ {
		who := []string{"Codebase", "DBA", "Security"}[n%3]
		w.add(room.ActorPolicy, room.TurnGranted{Turn: n, Participant: who, Reason: "next in the roster", Request: fmt.Sprint("q", n), Tokens: 500, Timeout: time.Minute})
		text := fmt.Sprintf("Sentence %d of **%s**. The index is built concurrently, and the backfill goes in batches of `%d` rows.", n, who, n%1000)
		w.add(who, room.MessagePosted{Turn: n, Auto: true, Latency: 2 * time.Second, Message: room.Message{
			ID: fmt.Sprint("m", n), Run: w.room, From: who, To: room.Broadcast, Kind: room.KindUtterance, Visibility: room.UserVisible, Source: room.SourceAgent, Turn: n, Text: text,
		}})
	}
	w.add(room.ActorHost, room.Paused{Cause: room.CausePerson, Reason: "the test begins"})
	w.flush()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return w.room
}

// A writer appends events to a log, many at a time.
type writer struct {
	t      *testing.T
	log    *sqlite.DB
	room   string
	at     log.Pos
	seq    int64
	events []room.Event
}

func (w *writer) add(actor string, b room.Body) {
	w.seq++
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Add(time.Duration(w.seq) * time.Second)
	w.events = append(w.events, room.Event{V: room.FormatVersion, Seq: w.seq, ID: fmt.Sprint("1.", w.seq), Actor: actor, Epoch: 1, At: at, Clock: time.Duration(w.seq) * time.Second, Body: b})
	if len(w.events) == 5000 {
		w.flush()
	}
}

func (w *writer) flush() {
	w.t.Helper()
	last, _, err := w.log.Append(context.Background(), w.room, w.at, time.Time{}, w.events...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.at, w.events = last, nil
}

// TestLongTimeline opens a room of 100,000 turns, reads backward in it, follows a link to
// a turn, finds a text and comes back to the end. There are never more than 300 rows.
func TestLongTimeline(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	id := longRoom(t, data, 100_000)
	s := serveAt(t, data, "127.0.0.1:0")
	b := start(t)
	s.signIn(b, "admin")
	s.show(b, id)
	b.until(t, `document.querySelector("#turn-100000 .text strong")`)
	b.read(t, `(() => { const box = document.querySelector(".rows"); window.most = 0;
		new MutationObserver(() => { window.most = Math.max(window.most, document.querySelectorAll(".row").length) }).observe(box, {childList: true}) })()`, nil)
	few := func(t *testing.T) {
		t.Helper()
		if n := b.value(t, `String(window.most)`); len(n) > 3 || n > "300" {
			t.Errorf("there were %s rows at a time", n)
		}
	}
	t.Run("backward", func(t *testing.T) {
		for _, turn := range []int{99_850, 99_700, 99_550, 99_400} {
			b.until(t, fmt.Sprintf(`(() => { const e = document.querySelector("#turn-%d"); if (!e) document.querySelector(".rows").scrollTop = 0; return e })()`, turn))
		}
		b.until(t, `!document.querySelector("#turn-100000") && document.querySelector(".new-rows").textContent === "Latest ↓"`)
		few(t)
	})
	t.Run("forward", func(t *testing.T) {
		b.until(t, `(() => { const e = document.querySelector("#turn-99990"), box = document.querySelector(".rows"); if (!e) box.scrollTop = box.scrollHeight; return e })()`)
		few(t)
	})
	t.Run("link", func(t *testing.T) {
		b.read(t, `location.hash = "#turn-4711"`, nil)
		b.until(t, `document.activeElement.id === "turn-4711" && document.activeElement.textContent.includes("Sentence 4711 of")`)
		few(t)
	})
	t.Run("search", func(t *testing.T) {
		b.run(t, chromedp.KeyEvent("/"))
		b.until(t, `document.activeElement.matches(".search input")`)
		b.read(t, `document.querySelector(".search input").select()`, nil) // the driver types the key there too
		b.run(t, chromedp.KeyEvent("sentence 85000 of"))
		b.until(t, `document.querySelector(".results mark")?.textContent === "Sentence 85000 of"`)
		b.shots(t, "timeline-search")
		b.run(t, chromedp.Click(".results button", chromedp.ByQuery))
		b.until(t, `document.activeElement.id === "turn-85000"`)
		few(t)
	})
	t.Run("end", func(t *testing.T) {
		b.run(t, chromedp.Click(".new-rows", chromedp.ByQuery))
		b.until(t, `document.querySelector("#turn-100000") && document.querySelector(".new-rows").hidden`)
		few(t)
	})
}

// TestMeasureTimeline prints how much of 10 seconds the main thread of the page works
// while 50 messages a second come to a room of 100,000 turns: when the page follows, and
// when a person reads what is above. It runs only if PAGE_MEASURE is set.
func TestMeasureTimeline(t *testing.T) {
	if os.Getenv("PAGE_MEASURE") == "" {
		t.Skip("PAGE_MEASURE is not set: this is a measurement")
	}
	data := filepath.Join(t.TempDir(), "data")
	id := longRoom(t, data, 100_000)
	s := serveAt(t, data, "127.0.0.1:0")
	var created struct{ Room string }
	s.call("POST", "/api/rooms", `{"room":"`+id+`"}`, &created)
	b := start(t)
	s.signIn(b, "admin")
	s.show(b, id)
	b.until(t, `document.querySelector("#turn-100000 .text strong")`)
	b.run(t, performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	s.do(id, map[string]any{"do": "say", "as": "Ana", "text": "the room is there"})
	b.until(t, `[...document.querySelectorAll(".row")].at(-1).textContent.includes("the room is there")`)
	for _, c := range []struct{ name, before string }{
		{"at rest", ``},
		{"following", ``},
		{"reading above", `document.querySelector(".rows").scrollTop = 3000`},
	} {
		if c.before != "" {
			b.read(t, c.before, nil)
		}
		was, from := metrics(t, b), b.value(t, top)
		sent := 0
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if c.name == "at rest" {
				time.Sleep(time.Until(end))
				continue
			}
			next := time.Now().Add(20 * time.Millisecond)
			s.do(id, map[string]any{"do": "say", "as": "Ana", "text": fmt.Sprintf("Message **%d** with some text, and `code` in it, that is about as long as a sentence.", sent)})
			sent++
			time.Sleep(time.Until(next))
		}
		now := metrics(t, b)
		t.Logf("%s: %d events in 10 s; main thread %.2f s (script %.2f s, layout %.2f s, style %.2f s), %d rows, first row in sight moved from %s to %s", c.name, sent,
			now["TaskDuration"]-was["TaskDuration"], now["ScriptDuration"]-was["ScriptDuration"], now["LayoutDuration"]-was["LayoutDuration"], now["RecalcStyleDuration"]-was["RecalcStyleDuration"],
			int(rows(t, b)), from, b.value(t, top))
	}
}

// top is the first row in sight and where it is.
const top = `(() => { const box = document.querySelector(".rows").getBoundingClientRect();
	const e = [...document.querySelectorAll(".row")].find((e) => e.getBoundingClientRect().bottom > box.top); return e.id + " at " + Math.round(e.getBoundingClientRect().top) })()`

func rows(t *testing.T, b *browser) (n float64) {
	b.read(t, `document.querySelectorAll(".row").length`, &n)
	return n
}

// metrics returns the times in seconds that the main thread has worked.
func metrics(t *testing.T, b *browser) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := performance.GetMetrics().Do(ctx)
		for _, m := range all {
			out[m.Name] = m.Value
		}
		return err
	}))
	return out
}
