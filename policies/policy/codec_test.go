package policy_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
)

func pointer(f float64) *float64 { return &f }

// sample sets every field, among them what needs an escape.
func sample() policy.Input {
	return policy.Input{
		ABI: policy.ABI, Init: true, Room: "r_01", Decision: 42, Turn: 17, NowMS: 184000, Seed: "9f3c0a",
		Objective: "say \"when\"\n\tand \\ <where> \u2028 é \x01", Constraints: []string{"no secrets", "bad \xff\xfe bytes"},
		Config: policy.JSON(`{"a":[1,2]}`),
		Limits: policy.Limits{MaxTurns: 40, TurnsLeft: 23, TokensLeft: 120000, MSLeft: -1},
		Agents: []policy.Agent{
			{
				ID: "dba", Name: "DBA", Kind: policy.Remote, Role: "data", Domains: []string{"postgres", "sql"},
				Ineligible: "cooldown", Presence: policy.Idle, Turns: 5, LastTurn: 14, Failures: 1, Tokens: 8100, AvgMS: 2300, Unread: 3, Urgent: 1,
				Followed: policy.Followed{Last: 7, LastTwo: 2}, Confidence: pointer(0.7),
				Bid: &policy.Bid{Score: 1e-9, Reason: "locks"},
				Tasks: []policy.Task{
					{ID: "t1", Title: "find the \"lock\"", State: policy.TaskWorking},
					{ID: "t2", Title: "release it", State: policy.TaskSubmitted, After: []string{"t1", "t\n0"}},
				},
			},
			{ID: "ann", Name: "Ann", Kind: policy.Human, Eligible: true, Confidence: pointer(math.NaN())},
		},
		Events: []policy.Event{
			{
				Seq: 88, Turn: 16, From: "sec", To: []string{"dba"}, Kind: policy.KindMessage, Text: "dba: why?",
				Truncated: true, Mentions: []string{"dba"}, Addressed: []string{"dba"}, Bytes: 9000,
			},
			{Seq: 89, Kind: policy.KindSystem},
			{Seq: 90, Kind: policy.KindDecline, Silent: []string{"dba", "s\"ec"}},
		},
		Handoff:   &policy.Handoff{From: "sec", To: "dba", Reason: "locks\u00a0are hers"},
		Replaced:  "se\\c",
		Truncated: true,
	}
}

func TestInputGolden(t *testing.T) {
	t.Parallel()
	in := sample()
	compareGolden(t, &in, "testdata/input.json")
	if !json.Valid(in.AppendJSON(nil)) {
		t.Error("encoding/json refuses the input")
	}
}

// TestInputWithoutNewFields: an input that has none of the fields of later minor
// versions is encoded as before them.
func TestInputWithoutNewFields(t *testing.T) {
	t.Parallel()
	in := sample()
	in.Replaced, in.Events = "", in.Events[:2]
	in.Events[1].Silent = []string{}
	compareGolden(t, &in, "testdata/input1.2.json")
	in.Handoff, in.Agents[0].Tasks = nil, []policy.Task{}
	compareGolden(t, &in, "testdata/input1.1.json")
}

func compareGolden(t *testing.T, in *policy.Input, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := in.AppendJSON(nil); !bytes.Equal(got, bytes.TrimSuffix(want, []byte("\n"))) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestInputDecodes(t *testing.T) {
	t.Parallel()
	in := sample()
	first := in.AppendJSON(nil)
	back, err := policy.DecodeInput(first)
	if err != nil {
		t.Fatal(err)
	}
	if second := back.AppendJSON(nil); !bytes.Equal(first, second) {
		t.Errorf("decoding and encoding changed\n%s\nto\n%s", first, second)
	}
	if h := back.Handoff; h == nil || *h != *in.Handoff {
		t.Errorf("decoded the hand-off %+v", h)
	}
	if back.Replaced != in.Replaced || !reflect.DeepEqual(back.Events[2].Silent, in.Events[2].Silent) {
		t.Errorf("decoded replaced %q and silent %q", back.Replaced, back.Events[2].Silent)
	}
	if !reflect.DeepEqual(back.Agents[0].Tasks, in.Agents[0].Tasks) {
		t.Errorf("decoded the tasks %+v", back.Agents[0].Tasks)
	}
	if back.Agents[0].Bid.Score != 1e-9 || back.Agents[1].Confidence != nil || back.State != nil {
		t.Errorf("decoded %+v", back)
	}
}

func TestInputDecodesIntoUsedInput(t *testing.T) {
	t.Parallel()
	full := sample()
	big := full.AppendJSON(nil)
	small := []byte(`{"future":{"x":[null,1.5e3]},"agents":[{"id":"a","tasks":[{"id":"t"}]}],"events":[{"from":"b","future":0},{"silent":["x"]},{}],"state":[1]}`)
	fresh, err := policy.DecodeInput(small)
	if err != nil {
		t.Fatal(err)
	}
	used, err := policy.DecodeInput(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := used.Decode(small); err != nil {
		t.Fatal(err)
	}
	if want, got := fresh.AppendJSON(nil), used.AppendJSON(nil); !bytes.Equal(want, got) {
		t.Errorf("a used Input decoded to\n%s\na fresh one to\n%s", got, want)
	}
}

func TestInputDecodeAllocations(t *testing.T) {
	in := sample()
	in.Objective, in.Agents[0].Bid, in.Agents[0].Confidence, in.Handoff = "plain", nil, nil, nil
	in.Agents[0].Tasks[0].Title, in.Agents[0].Tasks[1].After = "plain", []string{"t1"}
	in.Replaced, in.Events[2].Silent = "plain", []string{"dba"}
	b := in.AppendJSON(nil)
	var into policy.Input
	if n := testing.AllocsPerRun(50, func() {
		if err := into.Decode(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("decoding again took %v allocations, want 0", n)
	}
}

func TestDecisionGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    policy.Decision
		want string
	}{
		{policy.Decision{}, `{"action":"decline","reason":"no decision"}`},
		{policy.Finish("done"), `{"action":"finish","reason":"done"}`},
		{policy.Fail("no"), `{"action":"error","message":"no"}`},
		{
			policy.Decision{Action: policy.ActionDecline, Reason: "later", RetryMS: 5000, State: policy.JSON("null")},
			`{"action":"decline","reason":"later","retry_ms":5000,"state":null}`,
		},
		{
			policy.Decision{
				Action: policy.ActionSpeak, Agent: "dba", Reason: "domain postgres", Confidence: pointer(0.8), Speak: pointer(0.25),
				Hints:  policy.JSON(`{"focus":"lock time"}`),
				Scores: []policy.Score{{Agent: "dba", Score: 0.8}, {Agent: "sec", Score: -1e30}},
				State:  policy.JSON(`{"n":[1]}`),
			},
			`{"action":"speak","agent":"dba","reason":"domain postgres","confidence":0.8,"speak":0.25,"hints":{"focus":"lock time"},` +
				`"scores":[{"agent":"dba","score":0.8},{"agent":"sec","score":-1e+30}],"state":{"n":[1]}}`,
		},
	} {
		got := string(c.d.AppendJSON(nil))
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if back, err := policy.DecodeDecision([]byte(got)); err != nil {
			t.Errorf("decoding %s: %v", got, err)
		} else if again := string(back.AppendJSON(nil)); again != got {
			t.Errorf("decoding and encoding changed %s to %s", got, again)
		}
	}
}

func TestDecisionIsReadStrictly(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", policy.MaxReason+1)
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			b.WriteString(`"k` + strconv.Itoa(i) + `":0,`)
		}
		return `{"action":"finish","reason":"r","state":{` + b.String() + `"` + last + `":0}}`
	}
	for _, c := range []struct{ name, in, want string }{
		{"empty", ``, "byte 0: expected an object"},
		{"array", `[]`, "byte 0: expected an object"},
		{"no action", `{}`, "action: an answer needs an action"},
		{"other action", `{"action":"shout"}`, `action: unknown action "shout"`},
		{"no agent", `{"action":"speak"}`, "agent: speak needs the id of an agent"},
		{"no reason", `{"action":"decline"}`, "reason: decline needs a reason"},
		{"finish without reason", `{"action":"finish","reason":""}`, "reason: finish needs a reason"},
		{"long reason", `{"action":"decline","reason":"` + long + `"}`, "reason: 501 bytes; at most 500"},
		{"long message", `{"action":"error","message":"` + long + `"}`, "message: 501 bytes; at most 500"},
		{"trailing", `{"action":"finish","reason":"r"} x`, "something follows the value"},
		{"two values", `{"action":"finish","reason":"r"}{}`, "something follows the value"},
		{"twice", `{"action":"finish","reason":"r","reason":"s"}`, `key "reason" comes twice`},
		{"twice, escaped", `{"action":"finish","reason":"r","\u0072eason":"s"}`, `key "reason" comes twice`},
		{"twice in state", `{"action":"finish","reason":"r","state":{"a":[{"b":1,"b":2}]}}`, `state: key "b" comes twice`},
		{"twice among many", many("k3"), `state: key "k3" comes twice`},
		{"case", `{"Action":"finish"}`, `unknown key "Action"; did you mean "action"?`},
		{"unknown key", `{"action":"finish","reason":"r","mood":1}`, `unknown key "mood"`},
		{"range", `{"action":"speak","agent":"a","confidence":1e400}`, "confidence: number out of range"},
		{"range in state", `{"action":"finish","reason":"r","state":[1e400]}`, "state: number out of range"},
		{"confidence", `{"action":"speak","agent":"a","confidence":1.5}`, "confidence: expected a number from 0 to 1"},
		{"speak", `{"action":"speak","agent":"a","speak":-1}`, "speak: expected a number from 0 to 1"},
		{"retry", `{"action":"decline","reason":"r","retry_ms":-1}`, "retry_ms: expected milliseconds"},
		{"retry fraction", `{"action":"decline","reason":"r","retry_ms":1.5}`, "retry_ms: expected a whole number"},
		{"retry range", `{"action":"decline","reason":"r","retry_ms":9223372036854775808}`, "retry_ms: number out of range"},
		{"utf-8", "{\"action\":\"finish\",\"reason\":\"\xff\"}", "reason: not valid UTF-8"},
		{"utf-8 in state", "{\"action\":\"finish\",\"reason\":\"r\",\"state\":\"\xed\xa0\x80\"}", "state: not valid UTF-8"},
		{"kind", `{"action":"finish","reason":7}`, "reason: expected a string"},
		{"null", `{"action":"finish","reason":null}`, "reason: expected a string"},
		{"score", `{"action":"speak","agent":"a","scores":[{"agent":"a","score":1},{"agent":"b"}]}`, "scores[1]: expected the keys agent and score"},
		{"score key", `{"action":"speak","agent":"a","scores":[{"agent":"a","score":1,"Score":1}]}`, `scores[0]: expected the keys agent and score, once each, not "Score"`},
		{"deep", `{"action":"finish","reason":"r","state":` + deep + `}`, "state: nested deeper than 64 levels"},
		{"hints", `{"action":"speak","agent":"a","hints":"` + strings.Repeat("h", policy.MaxHints) + `"}`, "hints: 2050 bytes; at most 2048"},
		{"state", `{"action":"finish","reason":"r","state":"` + strings.Repeat("h", policy.MaxState) + `"}`, "state: 65538 bytes; at most 65536"},
		{"output", `"` + strings.Repeat("h", policy.MaxOutput) + `"`, "at most 262144"},
		{"bracket", `{"action":"finish","reason":"r","state":[1}}`, "state: expected a comma or a closing bracket"},
		{"comma", `{"action":"finish","reason":"r",}`, "expected a key"},
		{"literal", `{"action":"finish","reason":"r","state":nul}`, "state: expected null"},
	} {
		_, err := policy.DecodeDecision([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestDecisionStateIsCompacted(t *testing.T) {
	t.Parallel()
	d, err := policy.DecodeDecision([]byte("{\"action\":\"finish\",\"reason\":\"r\",\"state\": { \"a b\" : [ 1 ,\n\"\\\" \\\\\" ] } }"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(d.State), `{"a b":[1,"\" \\"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
