package policy_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/policies/policy"
)

// nested tells how deep the brackets of valid JSON go.
func nested(b []byte) int {
	depth, most := 0, 0
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		t, err := dec.Token()
		if err != nil {
			return most
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			most = max(most, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// FuzzReader holds the Reader's verdict on any text against encoding/json's.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		``, ` {} `, `[1,2.50,-0,1e5,1E-5,01,-]`, `{"a":{"b":[null,true,false]}}`, `{"a":1,}`, `[1}`, `"\ud800\u00e9\n"`,
		"\"\xff\"", `nul`, `truex`, `"\x"`, "\"\n\"", `1.`, `.5`, `+1`, `[[[[]]]]`, `{"a" 1}`, `{,}`, `[,]`, `1 2`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := policy.NewReader(b)
		r.Skip()
		r.End()
		want := json.Valid(b) && utf8.Valid(b) && nested(b) <= 64
		if got := r.Err() == nil; got != want {
			t.Fatalf("Reader says %v (%v), encoding/json %v: %q", got, r.Err(), want, b)
		}
		var s string
		if want && json.Unmarshal(b, &s) == nil && bytes.HasPrefix(bytes.TrimSpace(b), []byte{'"'}) {
			r := policy.NewReader(b)
			if got := r.String(); got != s {
				t.Fatalf("String read %q, encoding/json %q", got, s)
			}
		}
	})
}

// compact returns the encoded input without white space.
func compact(t *testing.T, in policy.Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, in.AppendJSON(nil)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzDecodeInput(f *testing.F) {
	in := sample()
	f.Add(in.AppendJSON(nil))
	f.Add([]byte(`{"agents":[{"bid":{"score":1e400}}],"state":null}`))
	f.Add([]byte(`{"handoff":{"to":"a"},"agents":[{"tasks":[{"after":["b"],"id":"c","x":1},{}],"id":"a"}],"handoff":{"from":"b","x":[]}}`))
	f.Add([]byte(`{"replaced":"a","events":[{"silent":["b"],"x":1},{}],"replaced":"b"}`))
	f.Add(bytes.Replace(in.AppendJSON(nil), []byte(`"decision":`), []byte(`"decision":0`), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := policy.DecodeInput(b)
		var spaced bytes.Buffer
		if json.Indent(&spaced, b, " ", " ") == nil {
			in2, err2 := policy.DecodeInput(spaced.Bytes())
			if (err == nil) != (err2 == nil) || err == nil && !bytes.Equal(compact(t, in), compact(t, in2)) {
				t.Fatalf("%+v, %v; with spaces %+v, %v", in, err, in2, err2)
			}
		}
		if err != nil {
			return
		}
		first := in.AppendJSON(nil)
		back, err := policy.DecodeInput(first)
		if err != nil {
			t.Fatalf("own bytes refused: %v\n%s", err, first)
		}
		if second := back.AppendJSON(nil); !bytes.Equal(first, second) {
			t.Fatalf("%s\nbecame\n%s", first, second)
		}
	})
}

func FuzzDecodeDecision(f *testing.F) {
	f.Add([]byte(`{"action":"speak","agent":"a","reason":"r","confidence":0.5,"hints":{"a":1},"scores":[{"agent":"a","score":1}],"state":[1, 2]}`))
	f.Add([]byte(`{"action":"decline","reason":"r","retry_ms":5000}`))
	f.Add([]byte(`{"action":"error","message":"m"}`))
	f.Add([]byte(`{"action":"speak","agent":"a","reason":"r","confidence":0.5,"scores":[{"agent":"a","score":0.25},{"agent":"b","score":01}],"state":"s"}`))
	f.Add([]byte(`{"action":"speak","agent":"a","confidence":1.5,"scores":[],"state":"s"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := policy.DecodeDecision(b)
		spaced, byKey := policy.DecodeDecision(append([]byte(" "), b...))
		if (err == nil) != (byKey == nil) || !bytes.Equal(d.AppendJSON(nil), spaced.AppendJSON(nil)) {
			t.Fatalf("by its order %+v %v, key by key %+v %v", d, err, spaced, byKey)
		}
		if err != nil {
			return
		}
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Fatalf("accepted what is not JSON: %q", b)
		}
		first := d.AppendJSON(nil)
		back, err := policy.DecodeDecision(first)
		if err != nil {
			t.Fatalf("own bytes refused: %v\n%s", err, first)
		}
		if second := back.AppendJSON(nil); !bytes.Equal(first, second) {
			t.Fatalf("%s\nbecame\n%s", first, second)
		}
		if log, err := json.Marshal(json.RawMessage(d.State)); d.State != nil && !bytes.ContainsAny(d.State, "<>&\u2028\u2029") &&
			(err != nil || !bytes.Equal(log, d.State)) {
			t.Fatalf("a log would change state %s to %s (%v)", d.State, log, err)
		}
	})
}

func anyInput(t *rapid.T) policy.Input {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	texts := rapid.SliceOfN(text, 0, 3)
	number := rapid.Int64()
	in := policy.Input{
		ABI: 1, Init: rapid.Bool().Draw(t, "init"), Room: text.Draw(t, "room"), Decision: number.Draw(t, "decision"),
		NowMS: number.Draw(t, "now"), Objective: text.Draw(t, "objective"), Constraints: texts.Draw(t, "constraints"),
		Limits: policy.Limits{TokensLeft: number.Draw(t, "tokens")}, State: policy.JSON(`[{"a":1}]`),
	}
	for range rapid.IntRange(0, 3).Draw(t, "agents") {
		a := policy.Agent{
			ID: text.Draw(t, "id"), Domains: texts.Draw(t, "domains"), Ineligible: text.Draw(t, "why"), Presence: text.Draw(t, "presence"),
			Turns: int(number.Draw(t, "turns")), Tokens: number.Draw(t, "spent"),
		}
		if rapid.Bool().Draw(t, "bids") {
			f := rapid.Float64().Draw(t, "score")
			a.Bid, a.Confidence = &policy.Bid{Score: f, Reason: text.Draw(t, "bid")}, &f
		}
		for range rapid.IntRange(0, 2).Draw(t, "tasks") {
			a.Tasks = append(a.Tasks, policy.Task{
				ID: text.Draw(t, "task"), Title: text.Draw(t, "title"), State: text.Draw(t, "state"), After: texts.Draw(t, "after"),
			})
		}
		in.Agents = append(in.Agents, a)
	}
	if rapid.Bool().Draw(t, "hands off") {
		in.Handoff = &policy.Handoff{From: text.Draw(t, "from"), To: text.Draw(t, "to"), Reason: text.Draw(t, "why")}
		in.Replaced = text.Draw(t, "replaced")
	}
	for range rapid.IntRange(0, 3).Draw(t, "events") {
		in.Events = append(in.Events, policy.Event{
			Seq: number.Draw(t, "seq"), From: text.Draw(t, "from"), To: texts.Draw(t, "to"), Text: text.Draw(t, "text"),
			Mentions: texts.Draw(t, "mentions"), Addressed: texts.Draw(t, "addressed"), Bytes: int(number.Draw(t, "bytes")), Silent: texts.Draw(t, "silent"),
		})
	}
	return in
}

func TestInputRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		b := in.AppendJSON(nil)
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Fatalf("not JSON: %q", b)
		}
		back, err := policy.DecodeInput(b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if again := back.AppendJSON(nil); !bytes.Equal(b, again) {
			t.Fatalf("%s\nbecame\n%s", b, again)
		}
		if want := strings.ToValidUTF8(in.Objective, "\ufffd"); !strings.Contains(in.Objective, "\xff") && utf8.ValidString(in.Objective) && back.Objective != want {
			t.Fatalf("objective %q became %q", in.Objective, back.Objective)
		}
		for i := range in.Agents {
			if w, g := in.Agents[i].Bid, back.Agents[i].Bid; (w == nil) != (g == nil) || w != nil && w.Score != g.Score {
				t.Fatalf("bid %v became %v", w, g)
			}
		}
	})
}

// TestOrderDoesNotMatter: an input that is read by its order of keys and the
// same one with spaces, which is read key by key, are the same.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		if rapid.Bool().Draw(t, "configured") {
			in.Config = policy.JSON(`{"agents":[1]}`)
		}
		fast := in.AppendJSON(nil)
		var slow bytes.Buffer
		if err := json.Indent(&slow, fast, "", " "); err != nil {
			t.Fatal(err)
		}
		a, err := policy.DecodeInput(fast)
		if err != nil {
			t.Fatal(err)
		}
		b, err := policy.DecodeInput(slow.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		a.Config, a.State, b.Config, b.State = nil, nil, nil, nil // their white space differs
		if x, y := a.AppendJSON(nil), b.AppendJSON(nil); !bytes.Equal(x, y) {
			t.Fatalf("in order\n%s\nby key\n%s", x, y)
		}
	})
}

// TestIntsAsStrconv holds the fast reading of short numbers against strconv.
func TestIntsAsStrconv(t *testing.T) {
	t.Parallel()
	check := func(fail func(string, ...any), n int64, behind string) {
		r := policy.NewReader([]byte("[" + strconv.FormatInt(n, 10) + behind))
		r.Array()
		r.More()
		if got := r.Int(); got != n || r.Err() != nil {
			fail("%d%s was read as %d, %v", n, behind, got, r.Err())
		}
	}
	for n := int64(1); n > 0 && n < 1<<62; n = n*7 + 3 {
		for _, behind := range []string{",", "]", ",1234567]", ",12345678901234]", "]        "} {
			check(t.Errorf, n, behind)
			check(t.Errorf, -n, behind)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t.Fatalf, rapid.Int64().Draw(t, "n"), rapid.StringMatching(`[,\]][0-9 ]{0,12}`).Draw(t, "behind"))
	})
}

// TestDecimalsAsStrconv holds the fast reading of shares against strconv.
func TestDecimalsAsStrconv(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]\.[0-9]{0,18}(e[0-9])?`).Draw(t, "number")
		behind := rapid.StringMatching(`[,\]][0-9 ]{0,20}`).Draw(t, "behind")
		r := policy.NewReader([]byte("[" + text + behind))
		r.Array()
		r.More()
		got := r.Float()
		want, err := strconv.ParseFloat(text, 64)
		if valid := err == nil && json.Valid([]byte(text)); valid != (r.Err() == nil) || valid && got != want {
			t.Fatalf("%s%s was read as %v, %v", text, behind, got, r.Err())
		}
	})
}

// TestFloatsAsEncodingJSON holds the shortest form against encoding/json's.
func TestFloatsAsEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Int64(), func(n int64) float64 { return float64(n) }),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e15, -1e15, 999999999999999, 1e21, 9.3e18, -9.3e18})).Draw(t, "f")
		want, err := json.Marshal(f)
		if err != nil {
			t.Skip("JSON has no such number")
		}
		var w policy.Writer
		w.Float(f)
		if !bytes.Equal(w.Bytes(), want) {
			t.Fatalf("got %s, want %s", w.Bytes(), want)
		}
	})
}

func BenchmarkDecodeInput(b *testing.B) {
	in := sample()
	text := in.AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := in.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
