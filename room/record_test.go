package room

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room/names"
)

// A codedError is an error of the sandbox.
type codedError struct{}

func (codedError) Error() string     { return "unreachable [run.trap]" }
func (codedError) ErrorCode() string { return "run.trap" }
func (codedError) ErrorFix() string  { return "build it" }

// TestCompleteRecord checks each field of a record, after a decision and after an
// error.
func TestCompleteRecord(t *testing.T) {
	cursor := PolicyCursor{Ref: PolicyRef{Name: "quiet", Digest: "d1"}}
	in := &policy.Input{Decision: 4, Seed: "seed", NowMS: 77, State: policy.JSON(`{"n":1}`)}
	run := policy.Record{
		Decision: 1, Policy: "x", Digest: "x", Seed: "x", AskedAtMS: 1, Through: 1, State: "x", StateJSON: policy.JSON("1"), Code: "x", Error: "x", Fix: "x",
		ABI: 1, Engine: "compiler", Host: "w", Config: "c", Input: "i", Fuel: 9, Log: "l", Micros: 3,
	}
	want := policy.Record{
		Decision: 4, Policy: "quiet", Digest: "d1", Seed: "seed", AskedAtMS: 77, Through: 12,
		State: "8d7a12e16b6de8abce2ac2a6c16e3f8a", ABI: 1, Engine: "compiler", Host: "w", Config: "c", Input: "i", Fuel: 9, Log: "l", Micros: 3,
	}
	for _, c := range []struct {
		name  string
		d     policy.Decision
		err   error
		state string
		code  string
		error string
		fix   string
	}{
		{"no state keeps the one before", policy.Decision{}, nil, `{"n":1}`, "", "", ""},
		{"a new state", policy.Decision{State: policy.JSON(`{"n":2}`)}, nil, `{"n":2}`, "", "", ""},
		{"null clears it", policy.Decision{State: policy.JSON("null")}, nil, "", "", "", ""},
		{"an error", policy.Decision{State: policy.JSON(`{"n":2}`)}, errors.New("it broke"), "", "policy.failed", "it broke", ""},
		{"an error with a code", policy.Decision{}, codedError{}, "", "run.trap", "unreachable", "build it"},
	} {
		got := cursor.CompleteRecord(run, in, 12, c.d, c.err)
		if string(got.StateJSON) != c.state || (got.State == "") != (c.state == "") || got.State != PolicyStateDigest(got.StateJSON) {
			t.Errorf("%s: state %s with digest %s", c.name, got.StateJSON, got.State)
		}
		if got.Code != c.code || got.Error != c.error || got.Fix != c.fix {
			t.Errorf("%s: code %q, error %q, fix %q", c.name, got.Code, got.Error, got.Fix)
		}
		got.State, got.StateJSON, got.Code, got.Error, got.Fix = want.State, nil, "", "", ""
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if d := PolicyStateDigest(policy.JSON("null")); d != "" {
		t.Errorf("null has the digest %s", d)
	}
	if d := PolicyStateDigest(policy.JSON("1")); d != "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b" {
		t.Errorf("1 has the digest %s", d)
	}
}

// TestStatesOfPolicies checks when a decision's state is stored in full, and what
// the cursor knows afterwards.
func TestStatesOfPolicies(t *testing.T) {
	small, limit, large := policy.JSON("1"), policy.JSON(make([]byte, inlineState)), policy.JSON(make([]byte, inlineState+1))
	for _, c := range []struct {
		name   string
		before string
		r      policy.Record
		stored policy.JSON
		digest string
		state  policy.JSON
		lost   bool
	}{
		{"small", "", policy.Record{Decision: 1, State: "s", StateJSON: small}, small, "s", small, false},
		{"at the limit", "", policy.Record{Decision: 1, State: "s", StateJSON: limit}, limit, "s", limit, false},
		{"over the limit", "", policy.Record{Decision: 1, State: "s", StateJSON: large}, nil, "s", nil, true},
		{"over the limit, 64th", "", policy.Record{Decision: stateEvery, State: "s", StateJSON: large}, large, "s", large, false},
		{"unchanged", "s", policy.Record{Decision: 1, State: "s", StateJSON: small}, nil, "s", policy.JSON("old"), false},
		{"cleared", "s", policy.Record{Decision: 1}, nil, "", nil, false},
	} {
		s := State{Policy: PolicyCursor{Digest: c.before, State: policy.JSON("old"), Lost: c.before != c.digest}}
		r := s.withoutState(c.r)
		if !reflect.DeepEqual(r.StateJSON, c.stored) {
			t.Errorf("%s: %d bytes are stored", c.name, len(r.StateJSON))
		}
		s.Bids = []BidPosted{{}}
		s.applyRecord(&r)
		if p := s.Policy; p.Digest != c.digest || !reflect.DeepEqual(p.State, c.state) || p.Lost != c.lost || !p.Asked || s.Bids != nil {
			t.Errorf("%s: cursor %+v", c.name, p)
		}
		s.SetPolicyState(small)
		if s.Policy.Lost || string(s.Policy.State) != "1" {
			t.Errorf("%s: the state was not set", c.name)
		}
	}
	s := State{Policy: PolicyCursor{Lost: true, Digest: "s"}}
	s.applyRecord(&policy.Record{State: "s"})
	if !s.Policy.Lost {
		t.Error("an unchanged state that the log lacks is known")
	}
}

// TestSeatLookups checks the small accessors of a state and its seats.
func TestSeatLookups(t *testing.T) {
	s := State{Limits: Defaults(false), Seats: []*Seat{
		{Participant: Participant{ID: "a", Name: "Ann", Timeout: time.Hour}}, {Participant: Participant{ID: "b", Kind: policy.Remote}, Index: 1},
	}}
	if x, ok := s.Seat("b"); !ok || x.ID != "b" || x.Label() != "b" || x.policyKind() != policy.Remote {
		t.Errorf("seat %+v, %t", x, ok)
	}
	if x, ok := s.Seat("a"); !ok || x.Label() != "Ann" || x.policyKind() != policy.Local {
		t.Errorf("seat %+v, %t", x, ok)
	}
	if _, ok := s.Seat("c"); ok {
		t.Error("there is a seat c")
	}
	for id, want := range map[string]time.Duration{"a": time.Hour, "b": s.Limits.RemoteTimeout, "c": s.Limits.TurnTimeout} {
		if got := s.Timeout(id); got != want {
			t.Errorf("time limit of %s is %v", id, got)
		}
	}
	if _, addressed := s.names().Scan("Ann, what now?", "b"); !reflect.DeepEqual(addressed, []string{"a"}) || s.matcher != nil {
		t.Errorf("addressed %v, stored %t", addressed, s.matcher != nil)
	}
	s.CompileNames()
	if s.matcher == nil {
		t.Error("the names were not compiled")
	}
	m := names.New([]string{"a", "b"}, []string{"Zoe", ""})
	s.UseNames(m)
	if s.names() != m {
		t.Error("the given names are not used")
	}
}
