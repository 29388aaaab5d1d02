package room_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/invariant"
)

var update = flag.Bool("update", false, "rewrite the recordings in testdata/recordings")

// TestRecordings plays rooms in which every field of commands and events is used.
// It records each event, as stored and as readers of each level see it, and what
// changes in the state, the view, the policy's input and the effects. To rewrite
// the recordings, run go test ./room -run Recordings -update.
func TestRecordings(t *testing.T) {
	for name, play := range map[string]func(*recorder){
		"talk": recordTalk, "drafts": recordDrafts, "seats": recordSeats, "failures": recordFailures, "messages": recordMessages, "forks": recordFork, "permissions": recordPermissions,
		"calls": recordCalls, "children": recordChildren, "deliveries": recordDeliveries, "plans": recordPlans,
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{t: t, before: map[string]string{}}
			play(r)
			path := filepath.Join("testdata", "recordings", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(r.out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, r.out.String(), string(want))
		})
	}
}

// compareLines reports the first line that differs.
func compareLines(t *testing.T, got, want string) {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d:\ngot  %s\nwant %s", i+1, g[min(i, len(g)-1)], w[min(i, len(w)-1)])
		}
	}
}

// A recorder plays a room and notes what each command changes.
type recorder struct {
	t      *testing.T
	state  room.State
	clock  time.Duration
	n      int
	check  *invariant.Checker
	before map[string]string
	out    strings.Builder
}

// do gives the room a command after a second.
func (r *recorder) do(actor string, do room.Act) {
	r.t.Helper()
	r.n++
	r.with(room.Command{ID: fmt.Sprintf("c%d", r.n), Actor: actor, Do: do})
}

func (r *recorder) with(c room.Command) {
	r.t.Helper()
	if r.state.Seq == 0 {
		r.check = invariant.New()
	}
	r.clock += time.Second
	fmt.Fprintf(&r.out, "\n> %s %s: %s\n", c.ID, c.Actor, strings.TrimPrefix(fmt.Sprintf("%T", c.Do), "room."))
	events, err := r.state.Decide(c, room.Now{Wall: time.Unix(1_800_000_000, 5e8).Add(r.clock), Clock: r.clock})
	if err != nil {
		fmt.Fprintf(&r.out, "refused: %v\n", err)
	}
	broken := r.check.Decided(c, &r.state, events, err)
	for _, e := range events {
		r.event(e)
		r.state.Apply(e)
		broken = append(broken, r.check.Applied(e, &r.state)...)
	}
	for _, b := range broken {
		if b.ID != "P3" { // the decisions of the recordings have a made-up seed
			r.t.Error(b)
		}
	}
	if err := room.Refusal(events); err != nil {
		fmt.Fprintf(&r.out, "refused: %v, %+v\n", err, errors.Is(err, room.ErrTaken))
	}
	if why := room.HandOffRefused(events); why != "" {
		fmt.Fprintf(&r.out, "refused: %s\n", why)
	}
	r.reopen()
	after := r.snapshot()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if after[path] != r.before[path] {
			fmt.Fprintf(&r.out, "%s = %s\n", path, after[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(r.before)) {
		if _, ok := after[path]; !ok {
			fmt.Fprintf(&r.out, "%s is gone\n", path)
		}
	}
	r.before = after
}

// reopen goes on with the state as a snapshot has it.
func (r *recorder) reopen() {
	b, err := json.Marshal(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	restored := r.state // what is decoded replaces what is there
	if err := json.Unmarshal(b, &restored); err != nil {
		r.t.Fatal(err)
	}
	restored.CompileNames()
	r.state = restored
}

// event notes an event as it is stored and as the readers of each level see it.
func (r *recorder) event(e room.Event) {
	stored := r.marshal(e)
	fmt.Fprintf(&r.out, "%s\n", stored)
	if redacted := r.marshal(e.Redacted()); redacted != stored {
		fmt.Fprintf(&r.out, "  redacted: %s\n", redacted)
	}
	for _, level := range []room.Visibility{room.Internal, room.UserRedacted, room.UserVisible} {
		seen, ok := e.VisibleAt(level)
		switch {
		case !ok:
			fmt.Fprintf(&r.out, "  at %s: nothing\n", level)
		case r.marshal(seen) != stored:
			fmt.Fprintf(&r.out, "  at %s: %s\n", level, r.marshal(seen))
		}
	}
}

func (r *recorder) marshal(e room.Event) string {
	b, err := room.MarshalEvent(e)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// snapshot returns everything that can be seen of the room, by path.
func (r *recorder) snapshot() map[string]string {
	in, err := r.state.Input(r.state.Policy, r.clock, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]string{}
	r.flatten(out, "state", r.state)
	r.flatten(out, "view", r.state.View(room.Internal))
	r.flatten(out, "input", json.RawMessage(in.AppendJSON(nil)))
	for _, e := range r.state.Effects() {
		out["effect "+e.Key()] = fmt.Sprintf("%+v", e)
	}
	r.calls(out)
	if at, ok := r.state.Deadline(); ok {
		out["deadline"] = at.String()
	}
	for _, x := range r.state.Seats {
		r.flatten(out, "window "+x.ID, r.state.WindowFor(x.ID))
	}
	return out
}

// calls adds what is known of calls: the child rooms, and how a child room stands for its
// caller. People see the lists of the state.
func (r *recorder) calls(out map[string]string) {
	s := &r.state
	r.flatten(out, "reserved", s.Reserved())
	for i, c := range s.CallsAt(room.Internal) {
		if !reflect.DeepEqual(c, s.Calls[i].Public()) {
			r.t.Errorf("people see the call %+v, want %+v", c, s.Calls[i])
		}
		if spec, seats, ok := s.Child(c.ID); ok {
			b, err := json.Marshal(map[string]any{"spec": spec, "seats": seats})
			if err != nil {
				r.t.Fatal(err)
			}
			out["child "+c.ID] = string(b)
		}
	}
	if s.Spec.Call != nil {
		stands, asked, text := s.ChildStatus()
		out["path"] = fmt.Sprint(s.Waiting().Chain)
		out["stands"] = fmt.Sprintf("%s %q %q", stands, asked, text)
		state, result, ended := s.ChildResult()
		out["returns"] = fmt.Sprintf("%t %s", ended, state)
		r.flatten(out, "result", result)
	}
	seen := room.MailView{Internal: s.Mail.Internal, Dead: s.Mail.DeadCount, Letters: s.Mail.Dead, Deliveries: s.Mail.Deliveries.All}
	if got := s.View(room.Internal).Mail; !reflect.DeepEqual(*got, seen) {
		r.t.Errorf("people see the mail %+v, want %+v", *got, seen)
	}
}

// another begins another room. The recording leaves its opening out.
func (r *recorder) another(name string, open func()) {
	so := r.out.String()
	r.state, r.clock, r.before = room.State{}, 0, map[string]string{}
	open()
	r.out.Reset()
	r.out.WriteString(so + "\n== " + name + "\n")
}

// flatten adds the leaves of the JSON form of v, by path.
func (r *recorder) flatten(out map[string]string, path string, v any) {
	b, err := json.Marshal(v)
	var tree any
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	leaves(out, path, tree)
}

// leaves adds the leaves of a tree that are not zero.
func leaves(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			leaves(out, path+"."+k, w)
		}
	case []any:
		for i, w := range v {
			leaves(out, fmt.Sprintf("%s[%d]", path, i), w)
		}
	default:
		if b, _ := json.Marshal(v); !slices.Contains([]string{"null", `""`, "0", "false"}, string(b)) {
			out[path] = string(b)
		}
	}
}

// open opens a room with every field of its description set.
func (r *recorder) open(participants ...room.Participant) {
	r.openWith(func(*room.Spec) {}, participants...)
}

// openWith changes the description before.
func (r *recorder) openWith(change func(*room.Spec), participants ...room.Participant) {
	l := room.Defaults(false)
	l.MaxTurns, l.MaxTokens, l.MaxCost, l.MaxOutput, l.MaxViolations, l.MaxInternal, l.MaxFailures = 20, 100_000, 5_000_000, 40, 1, 2, 4
	spec := room.Spec{
		Room: "r1", Name: "talk", Objective: "Choose a name.", Constraints: []string{"short", "free"}, Secret: "s3cret", Limits: l,
		Context: room.Context{Tokens: 40, SummaryTokens: 30, HistoryTurns: 2, HistoryChars: 200, LineChars: 20},
		Policy: room.PolicyRef{
			Use: "quiet", Name: "quiet", Version: "1.0.0", Digest: "d1", Settings: policy.JSON(`{"a":1}`), Config: policy.JSON(`{"b":2}`),
			Needs: policy.Needs{Bids: true, HistoryEvents: 6, MaxTextBytes: 12}, Hints: true,
		},
		Dir: "/home", Observers: []room.Observer{{Device: "dev9", Name: "Olga", Level: room.UserRedacted}},
	}
	change(&spec)
	r.do(room.ActorHost, room.Open{Spec: spec, Participants: participants})
	r.do(room.ActorHost, room.Claim{Owner: "host:1"})
}

func ann() room.Participant {
	return room.Participant{
		ID: "ann", Name: "Ann", Kind: policy.Local, Role: "writes", Domains: []string{"names"}, Mode: room.FullAuto, Remembers: true, Cooldown: 1,
		MaxTokens: 900, Tools: true, Price: room.Price{Input: 3_000_000, Output: 15_000_000}, Profile: "p1", Endpoint: policy.JSON(`{"kind":"x"}`),
	}
}

func bob() room.Participant {
	return room.Participant{ID: "bob", Name: "Bob", Kind: policy.Remote, Owner: "carol", Device: "dev2", Mode: room.FullAuto, Timeout: 7 * time.Second}
}

func me() room.Participant {
	return room.Participant{ID: "me", Name: "Me", Kind: policy.Human, Moderator: true}
}

// decided returns a decision with a complete record.
func (r *recorder) decided(d policy.Decision, state string) room.Decided {
	rec := policy.Record{
		Decision: r.state.Policy.Decision + 1, Policy: "quiet", Digest: r.state.Policy.Ref.Digest, ABI: 1, Engine: "compiler", Host: "w1", Config: "cd",
		AskedAtMS: r.clock.Milliseconds(), Seed: "seed", Through: r.state.Seq, Input: "in", Fuel: 9, Log: "line", Micros: 3,
	}
	if state != "" {
		rec.StateJSON, rec.State = policy.JSON(state), room.PolicyStateDigest(policy.JSON(state))
	}
	return room.Decided{Decision: d, Record: rec, Grant: room.Grant{Request: fmt.Sprintf("q%d", r.n), Prompt: "pd", Tokens: 33}}
}

// speak gives the floor to a seat.
func (r *recorder) speak(id string) {
	d := policy.Speak(id, "asked")
	d.Confidence, d.Hints, d.Scores = ptr(0.8), policy.JSON(`{"focus":"x"}`), []policy.Score{{Agent: id, Score: 0.8}}
	r.do(room.ActorPolicy, r.decided(d, `{"n":1}`))
}

// turn returns the open turn.
func (r *recorder) turn() *room.Turn {
	r.t.Helper()
	if r.state.Turn == nil {
		r.t.Fatalf("no turn is open after:\n%s", r.out.String()[max(0, r.out.Len()-30000):])
	}
	return r.state.Turn
}

// reply answers the open turn.
func (r *recorder) reply(p endpoint.Reply) {
	t := r.turn()
	r.do(t.Participant, room.Replied{Turn: t.Number, Participant: t.Participant, Request: t.Request, Reply: p, Latency: 1500 * time.Millisecond})
}

func said(text string) endpoint.Reply {
	return endpoint.Reply{Outcome: endpoint.Said, Text: text, Confidence: ptr(0.7), Usage: room.Usage{Known: true, Input: 12, Output: 8}}
}

func (r *recorder) fail(code, text string) {
	t := r.turn()
	r.do(t.Participant, room.Failed{Turn: t.Number, Request: t.Request, Code: code, Error: text, Usage: room.Usage{Known: true, Input: 5, Output: 1}, Latency: time.Second})
}
