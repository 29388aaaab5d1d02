//go:build unix

package processes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// countedRoom has an agent that says something, one that fails and one that passes.
const countedRoom = `version: room/v1
name: counted
objective: CANARY-OBJECTIVE
participants:
  - {id: me, kind: human}
  - {id: says, mode: full_auto, endpoint: {kind: scripted, script: says.txt}}
  - {id: fails, mode: full_auto, endpoint: {kind: scripted, script: fails.txt}}
  - {id: passes, mode: full_auto, endpoint: {kind: scripted, script: passes.txt}}
policy: {use: roundrobin}
limits: {maxTurns: 4}
`

// slowRoom has an agent that does not answer.
const slowRoom = `version: room/v1
participants:
  - {id: slow, mode: full_auto, endpoint: {kind: scripted, script: slow.txt}}
policy: {use: roundrobin}
`

var countedFiles = map[string]string{
	"room.yaml": countedRoom, "slow.yaml": slowRoom, "slow.txt": "delay 1h\nsay CANARY-LATE\n",
	"says.txt": strings.Repeat("usage 120 30\nsay CANARY-TEXT\n", 9), "fails.txt": strings.Repeat("fail CANARY-ERROR\n", 9), "passes.txt": strings.Repeat("pass CANARY-REASON\n", 9),
}

// runCounted runs the room in a server until it has ended, and returns its events.
func (w *workbench) runCounted(d *daemon) (id string, events []room.Event) {
	w.t.Helper()
	if out, err := w.moot("run", "room.yaml", "--detach"); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	resp, err := d.socket.Get("http://moot/api/rooms")
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var rooms []api.RoomBrief
	if err := json.NewDecoder(resp.Body).Decode(&rooms); err != nil || len(rooms) != 1 {
		w.t.Fatalf("%v: %v", err, rooms)
	}
	id = rooms[0].Room
	w.await(id, "ended", func(s *room.State) bool { return s.Phase == room.PhaseStopped || s.Phase == room.PhaseCompleted })
	db := w.open()
	defer db.Close()
	for e, err := range log.Scan(w.t.Context(), db, id, log.Pos{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e.Event)
	}
	return id, events
}

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, url, token string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// metric returns the value of a series, or 0.
func metric(text, series string) float64 {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(m[1], 64) // it is a number of Prometheus
	return v
}

// countsOf returns what the metrics of a room must say, by the series.
func countsOf(id string, events []room.Event) map[string]float64 {
	want := map[string]float64{}
	seat := ""
	end := func(outcome string) {
		want[fmt.Sprintf(`moot_turns_total{outcome=%q}`, outcome)]++
		want[fmt.Sprintf(`moot_turn_duration_seconds_count{outcome=%q}`, outcome)]++
		want[fmt.Sprintf(`moot_room_turns_total{outcome=%q,participant=%q,room=%q}`, outcome, seat, id)]++
		want[fmt.Sprintf(`moot_room_turn_duration_seconds_count{participant=%q,room=%q}`, seat, id)]++
	}
	for _, e := range events {
		want["moot_log_events_total"]++
		switch b := e.Body.(type) {
		case room.TurnGranted:
			seat = b.Participant
			want[`moot_decision_duration_seconds_count{action="speak"}`]++
			want[fmt.Sprintf(`moot_room_decision_duration_seconds_count{action="speak",room=%q}`, id)]++
		case room.RoundDeclined:
			want[`moot_decision_duration_seconds_count{action="decline"}`]++
		case room.MessagePosted:
			if b.Turn != 0 {
				end("posted")
				want[fmt.Sprintf(`moot_room_tokens_total{participant=%q,room=%q,type="input"}`, seat, id)] += float64(b.Usage.Input)
				want[`moot_tokens_total{type="output"}`] += float64(b.Usage.Output)
			}
		case room.TurnPassed:
			end("passed")
		case room.TurnFailed:
			end("failed")
			want[fmt.Sprintf(`moot_failures_total{code=%q}`, b.Code)]++
			want[fmt.Sprintf(`moot_room_failures_total{code=%q,participant=%q,room=%q}`, b.Code, seat, id)]++
		case room.Stopped:
			want[fmt.Sprintf(`moot_endings_total{cause=%q,ending="stopped",name=%q}`, b.Cause, b.Name)]++
			want[fmt.Sprintf(`moot_room_endings_total{cause=%q,ending="stopped",name=%q,room=%q}`, b.Cause, b.Name, id)]++
		}
	}
	return want
}

// scrapeUntil reads the metrics until they are as wanted: the room counts what it has
// stored, and begins a turn, after others can read of it.
func scrapeUntil(t *testing.T, url, token string, want map[string]float64) (text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		status, text := scrape(t, url, token)
		if status != http.StatusOK {
			t.Fatalf("%d: %s", status, text)
		}
		var other []string
		for series, want := range want {
			if got := metric(text, series); got != want {
				other = append(other, fmt.Sprintf("%s is %v, want %v", series, got, want))
			}
		}
		if other == nil {
			return text
		}
		if time.Now().After(deadline) {
			t.Error(strings.Join(other, "\n"))
			return text
		}
	}
}

// token makes a token by the command.
func (w *workbench) token(args ...string) string {
	w.t.Helper()
	out, err := w.moot(append([]string{"token", "new", "--quiet", "--name", "prometheus"}, args...)...)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// TestMetrics scrapes a server that has run a room, and compares the metrics with the log.
func TestMetrics(t *testing.T) {
	w := newWorkbench(t, countedFiles)
	d := w.serve("--listen", "127.0.0.1:0")
	id, events := w.runCounted(d)
	waiting := w.watchSlow()
	token := w.token("--scope", "read")
	want := countsOf(id, events)
	delete(want, "moot_log_events_total") // and those of the other room
	want[`moot_decision_duration_seconds_count{action="speak"}`]++
	for series, n := range map[string]float64{"moot_watchers": 1, fmt.Sprintf(`moot_room_watchers{room=%q}`, waiting): 1, "moot_requests_queued": 0, "moot_effects_running": 1, `moot_rooms{phase="stopped"}`: 1, `moot_rooms{phase="live"}`: 1} {
		want[series] = n
	}
	text := scrapeUntil(t, d.at.URL, token, want)
	if metric(text, "moot_log_append_seconds_count") == 0 || metric(text, "go_goroutines") == 0 {
		t.Error("appends or goroutines are not measured")
	}
	if secret, err := os.ReadFile(filepath.Join(w.data(), "server", "token")); err != nil || strings.Contains(text, strings.TrimSpace(string(secret))) || strings.Contains(text, token) || strings.Contains(text, "CANARY") {
		t.Errorf("%v, or the metrics have a secret:\n%s", err, text)
	}
	for name, other := range map[string]string{"no token": "", "the token of a room": w.token("--scope", "read", "--room", id)} {
		if status, _ := scrape(t, d.at.URL, other); status/100 != 4 {
			t.Errorf("with %s: %d", name, status)
		}
	}
	d.stop(t)
}

// watchSlow runs a room whose agent does not answer in the server, and watches it in
// another process. The turn has been granted when it returns.
func (w *workbench) watchSlow() (id string) {
	w.t.Helper()
	r := w.start("run", "slow.yaml", "--headless", "-o", "jsonl")
	id = roomOf(w.t, []string{r.until(w.t, "room.opened")})
	r.until(w.t, "turn.granted")
	return id
}

// A collector takes spans as a collector of OpenTelemetry does.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte
	auth  string
	calls int
	again chan struct{} // closed at the second call
}

func newCollector(t *testing.T) *collector {
	c := &collector{again: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls++; c.calls == 1 {
			rw.WriteHeader(http.StatusServiceUnavailable) // it is busy, once
			return
		}
		if c.calls == 2 {
			close(c.again)
		}
		b, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || proto.Unmarshal(b, &data) != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		c.auth, c.raw = r.Header.Get("X-Api-Key"), append(c.raw, b...)
		for _, rs := range data.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// TestSpans runs a room in a server that sends spans, and compares them with the log.
func TestSpans(t *testing.T) {
	c := newCollector(t)
	w := newWorkbench(t, countedFiles)
	w.env = append(w.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-api-key=a%20key", "OTEL_BSP_SCHEDULE_DELAY=100")
	d := w.serve("--listen", "none")
	id, events := w.runCounted(d)
	<-c.again // the server has a short time at its end, which is not for waiting
	d.stop(t) // sends what is left
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.auth != "a key" || strings.Contains(string(c.raw), "CANARY") {
		t.Errorf("the header is %q, or a span has a text", c.auth)
	}
	var got []string
	roots := map[string]string{} // of traces, by their ids
	for _, s := range c.spans {
		if a := attributesOf(s); a["gen_ai.conversation.id"] != id || a["gen_ai.agent.name"] == "" || a["gen_ai.operation.name"] == "" {
			t.Errorf("span %s: %v", s.Name, a)
		} else {
			got = append(got, strings.Join([]string{s.Name, a["gen_ai.operation.name"], a["moot.turn.outcome"], a["moot.decision.action"], a["error.type"], a["gen_ai.usage.input_tokens"]}, "|"))
		}
		if s.ParentSpanId == nil {
			roots[string(s.TraceId)] = string(s.SpanId)
		}
	}
	for _, s := range c.spans {
		if s.ParentSpanId != nil && roots[string(s.TraceId)] != string(s.ParentSpanId) {
			t.Errorf("span %s is not below the room", s.Name)
		}
	}
	want := spansOf(events)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("spans:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// spansOf returns what the spans of a room must be.
func spansOf(events []room.Event) []string {
	want := []string{"invoke_workflow counted|invoke_workflow||||"}
	seat := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case room.TurnGranted:
			seat = b.Participant
			want = append(want, "moot.policy.decide|moot.policy.decide||speak||")
		case room.RoundDeclined:
			want = append(want, "moot.policy.decide|moot.policy.decide||decline||")
		case room.MessagePosted:
			want = append(want, "invoke_agent "+seat+"|invoke_agent|posted|||120")
		case room.TurnPassed:
			want = append(want, "invoke_agent "+seat+"|invoke_agent|passed|||")
		case room.TurnFailed:
			want = append(want, "invoke_agent "+seat+"|invoke_agent|failed||"+b.Code+"|")
		}
	}
	return want
}

func attributesOf(s *tracepb.Span) map[string]string {
	a := map[string]string{}
	for _, kv := range s.Attributes {
		if a[kv.Key] = kv.Value.GetStringValue(); a[kv.Key] == "" {
			a[kv.Key] = strconv.FormatInt(kv.Value.GetIntValue(), 10)
		}
	}
	return a
}
