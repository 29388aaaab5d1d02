//go:build unix

package processes

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// Canaries of TestSecrets: values that occur nowhere else, by their places.
const (
	keyEchoed     = iota // of a model server that repeats it in an error
	keyInPage            // of one that repeats it in an error that is no JSON
	keyInRedirect        // of one that redirects to an address with it
	tokenEchoed          // of an A2A server that repeats it
	frameEnv             // in the environment of an agent with frames, which writes it to stderr and ends
	frameOut             // the same, which answers with it in place of a frame
	commandEnv           // in the environment of a program that writes it to stderr and fails
	commandUnused        // in that of a program that does not use it
	serverEnv            // in the environment of the server, where nothing uses it
	callerToken          // MOOT_TOKEN of the environment of the server
	collectorKey         // header for the collector of spans
	relayToken           // in the file that the settings name
	workspaceFile        // in a file next to the room
	logPassword          // in the address of a log that does not answer
	wrongBearer          // in requests that are refused, from here on
	wrongBasic
	wrongQuery
	wrongLaunch
	wrongCookie
	wrongBody
	instructions // these two are for readers with control only
	arguments
	asides // messages to one participant, which are internal; two of them
	asides2
	texts       // of messages, from here on: eight
	canaryCount = 32
)

// secretCanaries are those that no reader may have: all before the ones for readers with
// control. ownerCanaries are those that exports for users may not have either.
const (
	secretCanaries = instructions
	ownerCanaries  = texts
)

// newCanaries returns 32 random texts.
func newCanaries() (all []string) {
	for i := range canaryCount {
		all = append(all, fmt.Sprintf("canary-%02d-%016x", i, rand.Uint64()))
	}
	return all
}

// secretServer repeats the credential of a request in its errors.
func secretServer(t *testing.T, c []string) (url string, got map[string]bool) {
	got = map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		got[key] = true
		switch key {
		case c[keyInPage]:
			http.Error(w, "<p>no such key: "+key, http.StatusInternalServerError)
		case c[keyInRedirect]:
			http.Redirect(w, r, "/elsewhere?key="+key, http.StatusFound)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error": {"message": "wrong key %s", "code": %q}}`, key, key)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// secretRoom is a room whose agents have secrets, and most of which fail with them.
func secretRoom(url string, c []string) string {
	agents := []string{
		`{id: says, endpoint: {kind: scripted, script: says.txt}, instructions: "` + c[instructions] + `"}`,
		`{id: echoed, endpoint: {kind: openai, baseURL: "` + url + `/v1", model: m, apiKey: "${KEY_ECHOED}"}}`,
		`{id: page, endpoint: {kind: openai, baseURL: "` + url + `/v1", model: m, apiKey: "${KEY_PAGE}"}}`,
		`{id: away, endpoint: {kind: openai, baseURL: "` + url + `/v1", model: m, apiKey: "${KEY_AWAY}"}}`,
		`{id: carded, endpoint: {kind: a2a, url: "` + url + `", token: "${TOKEN_ECHOED}"}}`,
		`{id: frames, endpoint: {kind: ndjson, command: [sh, -c, 'echo "no $SECRET" >&2; exit 3'], env: {SECRET: "${FRAME_ENV}"}}}`,
		`{id: garbage, timeout: 2s, endpoint: {kind: ndjson, command: [sh, -c, 'echo "$SECRET"; cat >/dev/null'], env: {SECRET: "${FRAME_OUT}"}}}`,
		`{id: program, endpoint: {kind: command, command: [sh, -c, 'echo "no $SECRET" >&2; exit 3', "` + c[arguments] + `"], env: {SECRET: "${COMMAND_ENV}"}}}`,
		`{id: quiet, endpoint: {kind: command, command: [echo, PASS], env: {SECRET: "${COMMAND_UNUSED}"}}}`,
	}
	var all strings.Builder
	for _, a := range agents {
		all.WriteString("  - " + strings.Replace(a, "{id", "{mode: full_auto, id", 1) + "\n")
	}
	return "version: room/v1\nname: secrets\nobjective: " + c[texts] + "\nopening: " + c[texts+1] + "\nconstraints: [" + c[texts+2] + "]\n" +
		"participants:\n  - {id: me, kind: human, name: " + c[texts+3] + "}\n" + all.String() +
		"policy: {use: roundrobin}\nlimits: {maxTurns: 18, maxFailures: 3, startTimeout: 20s}\n"
}

// A secretsTest collects what a server and its commands show, by the place.
type secretsTest struct {
	t       *testing.T
	w       *workbench
	c       []string
	id      string
	d       *daemon
	spans   *collector
	outputs map[string][]byte
}

// TestSecrets plants 32 canaries in the credentials, environments, files, refused
// requests and messages of a server, and lets the agents fail with them. No credential
// occurs in what the server logs, notes in the host log, counts, traces, answers, exports
// and gives to policies, in any encoding of [relaytest.FindCanaries]; no text of a message
// occurs in logs, metrics, spans and errors; and no text for readers with control occurs
// in exports for users and inputs of policies. Tests of the relay do the same for frames.
func TestSecrets(t *testing.T) {
	x := &secretsTest{t: t, c: newCanaries(), spans: newCollector(t), outputs: map[string][]byte{}}
	url, got := secretServer(t, x.c)
	x.w = newWorkbench(t, x.files(url))
	x.w.env = append(x.w.env, x.environment()...)
	ofCommands := x.w.env
	x.w.env = append(slices.Clone(ofCommands), "MOOT_TOKEN="+x.c[callerToken]) // commands would show it to the server
	x.d = x.w.serve("--listen", "127.0.0.1:0", "--log-level", "debug", "--log-format", "json")
	x.w.env = ofCommands
	x.run()
	events := x.events()
	x.refusedRequests()
	x.commands()
	<-x.spans.again
	x.d.stop(t)
	x.outputs["log of the server"] = x.d.stderr.Bytes()
	x.spans.mu.Lock()
	x.outputs["spans"] = x.spans.raw
	x.spans.mu.Unlock()
	x.exports()
	x.outputs["input of policies"] = x.inputs(events)
	audit, err := os.ReadFile(filepath.Join(x.w.data(), "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	x.outputs["host log"] = audit
	for _, i := range []int{keyEchoed, keyInPage, keyInRedirect, tokenEchoed} {
		if !got[x.c[i]] {
			t.Errorf("canary %d did not reach its server: the test tests nothing", i)
		}
	}
	x.judge()
}

func (x *secretsTest) files(url string) map[string]string {
	lines := ""
	for i := range 4 {
		lines += "usage 120 30\nsay " + x.c[texts+4+i] + "\n"
	}
	return map[string]string{
		"room.yaml": secretRoom(url, x.c), "says.txt": strings.Repeat(lines, 3), ".env": "KEY=" + x.c[workspaceFile] + "\n",
		"token": x.c[relayToken] + "\n", "config.yaml": "relay: {tokens: {relay.example.org: token}}\n",
	}
}

func (x *secretsTest) environment() (env []string) {
	for name, i := range map[string]int{
		"KEY_ECHOED": keyEchoed, "KEY_PAGE": keyInPage, "KEY_AWAY": keyInRedirect, "TOKEN_ECHOED": tokenEchoed, "FRAME_ENV": frameEnv, "FRAME_OUT": frameOut,
		"COMMAND_ENV": commandEnv, "COMMAND_UNUSED": commandUnused, "AWS_SECRET_ACCESS_KEY": serverEnv,
	} {
		env = append(env, name+"="+x.c[i])
	}
	return append(env, "MOOT_CONFIG="+filepath.Join(x.w.dir, "config.yaml"), "OTEL_EXPORTER_OTLP_ENDPOINT="+x.spans.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=x-api-key="+x.c[collectorKey], "OTEL_BSP_SCHEDULE_DELAY=100")
}

// run runs the room until it ends or pauses, and posts two asides.
func (x *secretsTest) run() {
	out, err := x.w.moot("run", "room.yaml", "--detach")
	if x.id = anyRoom.FindString(out); err != nil || x.id == "" {
		x.t.Fatalf("%v\n%s", err, out)
	}
	for _, i := range []int{asides, asides2} {
		body := fmt.Sprintf(`{"do":"say","as":"me","to":"says","visibility":"internal","text":%q}`, x.c[i])
		if status, answer := x.d.command(x.t, x.id, body); status != http.StatusOK {
			x.t.Fatalf("%d %s", status, answer)
		}
	}
	x.w.await(x.id, "at rest", func(s *room.State) bool { return s.Tally.Turns > 9 && s.Phase != room.PhaseLive })
}

func (x *secretsTest) events() (all []room.Event) {
	db := x.w.open()
	defer db.Close()
	for e, err := range log.Scan(x.t.Context(), db, x.id, log.Pos{}) {
		if err != nil {
			x.t.Fatal(err)
		}
		all = append(all, e.Event)
	}
	return all
}

// refusedRequests sends requests with credentials that do not hold, and keeps the
// answers and the metrics.
func (x *secretsTest) refusedRequests() {
	c, base := x.c, x.d.at.URL
	for _, q := range []struct{ method, path, header, value, body string }{
		{"GET", "/api/rooms", "Authorization", "Bearer " + c[wrongBearer], ""},
		{"GET", "/api/rooms", "Authorization", "Basic " + c[wrongBasic], ""},
		{"GET", "/api/rooms?token=" + c[wrongQuery], "Accept", "*/*", ""},
		{"GET", "/launch?code=" + c[wrongLaunch], "Accept", "*/*", ""},
		{"POST", "/launch", "Content-Type", "application/json", `{"code":"` + c[wrongLaunch] + `"}`},
		{"GET", "/api/rooms", "Cookie", "moot=" + c[wrongCookie] + "; session=" + c[wrongCookie], ""},
		{"POST", "/api/rooms", "Content-Type", "application/json", `{"token":"` + c[wrongBody] + `"}`},
	} {
		req, err := http.NewRequestWithContext(x.t.Context(), q.method, base+q.path, strings.NewReader(q.body))
		if err != nil {
			x.t.Fatal(err)
		}
		req.Header.Set(q.header, q.value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode/100 == 2 && q.path != "/launch?code="+c[wrongLaunch] {
			x.t.Errorf("%s %s: %s, %v", q.method, q.path, resp.Status, err)
		}
		x.outputs["answers to refused requests"] = append(x.outputs["answers to refused requests"], b...)
	}
	_, metrics := scrape(x.t, base, x.w.token("--scope", "read"))
	x.outputs["metrics"] = []byte(metrics)
}

// commands keeps what commands print.
func (x *secretsTest) commands() {
	for _, args := range [][]string{
		{"show", x.id, "-o", "json"},
		{"ls", "-o", "json"},
		{"config", "show", "-o", "json"},
		{"config", "show", "room.yaml"},
		{"doctor", "-o", "json"},
		{"validate", "room.yaml"},
		{"ls", "--log", "postgres://moot:" + x.c[logPassword] + "@127.0.0.1:1/moot"},
		{"token", "ls"},
		{"show", "r_none"},
	} {
		out, _ := x.w.moot(args...) // some fail: what they print counts
		x.outputs["moot "+strings.Join(args, " ")] = []byte(out)
	}
}

// exports keeps the exports in each form, for users and with everything.
func (x *secretsTest) exports() {
	for _, level := range []string{"user_visible", "all"} {
		for _, form := range []string{"jsonl", "md", "html", "csv", "openai", "otel", "neutral"} {
			out, err := x.w.moot("transcript", "export", x.id, "-o", form, "--level", level)
			if err != nil && level != "all" {
				x.t.Fatalf("%v\n%s", err, out)
			}
			x.outputs["export "+form+" "+level] = []byte(out)
		}
	}
}

// inputs returns all inputs of policies in the room, with all that a policy may ask for.
func (x *secretsTest) inputs(events []room.Event) (all []byte) {
	h, err := history.Open(history.Transcript{Name: x.id, Room: events})
	if err != nil {
		x.t.Fatal(err)
	}
	err = h.Walk(0, nil, func(p *history.Point) error {
		cursor, in := p.State.Policy, policy.Input{} // with all that the policy may ask for
		cursor.Ref.Needs = policy.Needs{MaxTextBytes: 1 << 20}
		if err := p.Input(&in, cursor); err != nil {
			return err
		}
		all = in.AppendJSON(all)
		return nil
	})
	if err != nil || len(all) < 1000 {
		x.t.Fatalf("%d bytes of inputs: %v", len(all), err)
	}
	return all
}

// forbidden returns the canaries that must not occur at a place.
func (x *secretsTest) forbidden(place string) []string {
	switch {
	case strings.HasPrefix(place, "moot "), strings.HasPrefix(place, "export") && strings.HasSuffix(place, "all"):
		return x.c[:secretCanaries] // for the owner, who may read all but credentials
	case strings.HasPrefix(place, "export"):
		return x.c[:ownerCanaries]
	case place == "input of policies":
		return x.c[:asides] // messages are its subject
	}
	return x.c
}

// judge searches everything that was collected.
func (x *secretsTest) judge() {
	size, searches := 0, 0
	for place, b := range x.outputs {
		size += len(b)
		searches += len(x.forbidden(place))
		if found := relaytest.FindCanaries(b, x.forbidden(place)...); found != nil {
			x.t.Errorf("%s: %q\n%s", place, found, surroundings(b, found[0]))
		}
		if len(b) == 0 {
			x.t.Errorf("%s is empty", place)
		}
	}
	for _, want := range []string{"export jsonl all", "input of policies"} {
		if found := relaytest.FindCanaries(x.outputs[want], x.c...); len(found) < 6 {
			x.t.Errorf("%s has %q only: the test tests nothing", want, found)
		}
	}
	if !bytes.Contains(x.outputs["export jsonl all"], []byte("[key]")) {
		x.t.Error("no agent failed with its key: the test tests nothing")
	}
	x.t.Logf("%d canaries, %d bytes of %d places, %d searches for a canary in all encodings", len(x.c), size, len(x.outputs), searches)
}

// surroundings returns the text around the first plain occurrence of a canary.
func surroundings(b []byte, canary string) string {
	i := bytes.Index(b, []byte(canary))
	if i < 0 {
		return "in an encoding"
	}
	return string(b[max(0, i-200):min(len(b), i+200)])
}
