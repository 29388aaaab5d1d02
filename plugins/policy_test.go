package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins/wasm/wasmtest"
	"github.com/folkmoot/moot/policies/policy"
)

func newHost(t testing.TB, c Config) *Host {
	t.Helper()
	h, err := NewHost(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func load(t testing.TB, h *Host, wasm []byte) *Policy {
	t.Helper()
	p, err := h.Load(context.Background(), Module{Name: "under-test", Wasm: wasm, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wantCode(t testing.TB, err error, code string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want an error with the code %s", err, code)
	}
	if e.What == "" || e.Where == "" || e.Fix == "" {
		t.Fatalf("%#v does not say what, where and the fix", e)
	}
	return e
}

// codeOf returns the code of an error of this package, or "".
func codeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

var roster = policy.Input{
	ABI: 1, Room: "r_01", Decision: 3, Turn: 2, NowMS: 5000, Seed: "9f3c",
	Agents: []policy.Agent{{ID: "a", Kind: policy.Local, Eligible: true}, {ID: "b", Kind: policy.Local, Ineligible: "cooldown"}},
	Events: []policy.Event{{Seq: 7, From: "a", Kind: policy.KindMessage, Text: "hello"}},
	State:  policy.JSON(`{"n":1}`),
}

func TestPropose(t *testing.T) {
	h := newHost(t, Config{})
	p := load(t, h, wasmtest.Answering(`{"action":"speak","agent":"a","reason":"first","state":{"n":2}}`))
	d, rec, err := p.Propose(context.Background(), roster)
	if err != nil {
		t.Fatal(err)
	}
	if d.Agent != "a" || string(d.State) != `{"n":2}` {
		t.Errorf("decision %+v", d)
	}
	if rec.ABI != 1 || rec.Engine != h.Engine() || rec.Host != WazeroVersion || len(rec.Config) != 64 || len(rec.Input) != 64 || rec.Fuel == 0 {
		t.Errorf("record %+v", rec)
	}
}

func TestProposeRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ answer, code string }{
		"ghost":      {`{"action":"speak","agent":"zoe"}`, CodeChoice},
		"ineligible": {`{"action":"speak","agent":"b"}`, CodeChoice},
		"prototype":  {`{"action":"speak","agent":"__proto__"}`, CodeChoice},
		"empty":      {``, CodeOutput},
		"no reason":  {`{"action":"decline"}`, CodeOutput},
		"unknown":    {`{"action":"shout","agent":"a"}`, CodeOutput},
		"twice":      {`{"action":"speak","agent":"a","agent":"b"}`, CodeOutput},
		"case":       {`{"Action":"speak","agent":"a"}`, CodeOutput},
		"UTF-8":      {"{\"action\":\"speak\",\"agent\":\"\xff\"}", CodeOutput},
		"1e400":      {`{"action":"speak","agent":"a","confidence":1e400}`, CodeOutput},
		"trailing":   {`{"action":"speak","agent":"a"} {}`, CodeOutput},
		"state":      {`{"action":"speak","agent":"a","state":"` + strings.Repeat("x", policy.MaxState) + `"}`, CodeState},
		"deep":       {`{"action":"speak","agent":"a","state":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, ""},
		"error":      {`{"action":"error","message":"no table"}`, CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, newHost(t, Config{}), wasmtest.Answering(tt.answer))
			_, rec, err := p.Propose(context.Background(), roster)
			if tt.code == "" {
				if err == nil {
					t.Fatal("accepted")
				}
				return
			}
			wantCode(t, err, tt.code)
			if rec.ABI != 1 || len(rec.Input) != 64 {
				t.Errorf("record %+v", rec)
			}
		})
	}
}

func TestEveryDecisionIsFresh(t *testing.T) {
	m := wasmtest.Policy().Finish()
	g := m.Global(wasmtest.I32, true, wasmtest.I32Const('0'))
	m.Decide(nil,
		wasmtest.GlobalGet(g), wasmtest.I32Const(1), wasmtest.Op(wasmtest.I32Add), wasmtest.GlobalSet(g),
		wasmtest.I32Const(wasmtest.AnswerAt), wasmtest.GlobalGet(g), wasmtest.Mem(0x3a, 0, 0), // i32.store8
		wasmtest.I32Const(wasmtest.AnswerAt+1), // the byte behind it counts too
		wasmtest.I32Const(wasmtest.AnswerAt+1), wasmtest.Mem(0x2d, 0, 0), wasmtest.I32Const(1), wasmtest.Op(wasmtest.I32Add),
		wasmtest.Mem(0x3a, 0, 0),
		wasmtest.Answer(2))
	p := load(t, newHost(t, Config{}), m.Bytes())
	for range 20 {
		r, err := p.Run(context.Background(), []byte("{}"))
		if err != nil || !slices.Equal(r.Output, []byte{'1', 1}) {
			t.Fatalf("%q %v", r.Output, err)
		}
	}
}

func TestDigest(t *testing.T) {
	h := newHost(t, Config{})
	w := wasmtest.Answering("{}")
	_, err := h.Load(context.Background(), Module{Name: "x", Wasm: w, Digest: strings.Repeat("0", 64), Trusted: true})
	if e := wantCode(t, err, CodeDigest); !strings.Contains(e.What, strings.Repeat("0", 64)) {
		t.Error(e)
	}
}

// TestDigestOfTrusted: the digest that is kept of one module is not taken for that of another
// one, also of the same length or at the same place.
func TestDigestOfTrusted(t *testing.T) {
	h := newHost(t, Config{})
	a, b := wasmtest.Answering(`{"x":1}`), wasmtest.Answering(`{"x":2}`)
	longer := append(slices.Clone(a), 0, 2, 1, 'x') // with a custom section
	for _, w := range [][]byte{a, b, a, a, longer, longer[:len(a)], b} {
		sum := sha256.Sum256(w)
		p, err := h.Load(context.Background(), Module{Name: "x", Wasm: w, Digest: hex.EncodeToString(sum[:]), Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	_, err := h.Load(context.Background(), Module{Name: "x", Wasm: b, Digest: strings.Repeat("0", 64), Trusted: true})
	wantCode(t, err, CodeDigest)
}

// TestLoadErrorType: a module that has a fault when it starts gives an *Error, not a
// wrapped one, also when this process compiles it.
func TestLoadErrorType(t *testing.T) {
	m := wasmtest.Policy().Finish()
	m.Data(1<<30, []byte("outside"))
	m.Decide(nil, wasmtest.Answer(0))
	for _, trusted := range []bool{true, false} {
		_, err := newHost(t, Config{Interpreter: true}).Load(context.Background(), Module{Name: "x", Wasm: m.Bytes(), Trusted: trusted})
		if e, ok := err.(*Error); !ok || e.Code != CodeInit {
			t.Errorf("trusted %v: %T %v", trusted, err, err)
		}
	}
}
