//go:build unix

package moot

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// A room whose built-in policy was that of another release is opened with the
// module that its log kept, in the sandbox of strangers.
func TestPolicyOfAnotherRelease(t *testing.T) {
	h := openTest(t)
	other, err := pack.Embed(policies.Module(), "of another release", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.log.PutBlob(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	ref := room.PolicyRef{Use: "roundrobin", Name: "roundrobin", Digest: pack.Digest(other)}
	s, err := catalog.Stored(t.Context(), h.log, ref)
	if err != nil || s.Origin != catalog.Log || s.Manifest.Name != "roundrobin" {
		t.Fatalf("found %+v, %v", s, err)
	}
	p, err := h.load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{ABI: policy.ABI, Init: true, Room: "r", Decision: 1, Turn: 1, Agents: []policy.Agent{{ID: "ann", Name: "ann", Kind: policy.Local, Eligible: true}}}
	d, _, err := p.Propose(t.Context(), in)
	if err != nil || d.Agent != "ann" {
		t.Errorf("decides %+v, %v", d, err)
	}
	if got := p.(interface{ Digest() string }).Digest(); got != ref.Digest {
		t.Errorf("the module has the digest %s, not the %s of the log", got, ref.Digest)
	}
}

// A room whose policy was another build is refused before anything is
// recorded, unless a person puts another in its place.
func TestOtherBuildOfPolicy(t *testing.T) {
	h := openTest(t)
	ref, err := h.FindPolicy(t.Context(), "mention")
	if err != nil {
		t.Fatal(err)
	}
	s := &room.State{}
	s.Policy.Ref = ref
	if _, err := h.changes(t.Context(), s, Options{}); err != nil {
		t.Errorf("the policy of this build is refused: %v", err)
	}
	s.Policy.Ref.Digest = strings.Repeat("0", 64)
	_, err = h.changes(t.Context(), s, Options{})
	if err == nil || !strings.Contains(err.Error(), s.Policy.Ref.Digest) || !strings.Contains(err.Error(), policies.Digest()) || !strings.Contains(err.Error(), policies.CodeDigest) {
		t.Errorf("the error does not name both digests: %v", err)
	}
	acts, err := h.changes(t.Context(), s, Options{Policy: "mention"})
	if err != nil || len(acts) != 1 || acts[0].(room.SetPolicy).Policy.Digest != policies.Digest() {
		t.Errorf("changing the policy gives %v, %v", acts, err)
	}
	s.Policy.Ref.Name = "gone"
	if _, err := h.changes(t.Context(), s, Options{}); err == nil || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("a policy that is missing: %v", err)
	}
}

// openTest opens a Host in a new data folder.
func openTest(t *testing.T) *Host {
	t.Helper()
	h, err := Open(Config{Data: t.TempDir(), Cache: t.TempDir()})
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

// A policy in Go records how it ran and no more: the room completes the record.
// A refusal has the code that one of the sandbox has.
func TestRecordOfGoPolicy(t *testing.T) {
	in := policy.Input{ABI: policy.ABI, Room: "r", Decision: 3, Seed: "s", State: policy.JSON(`1`), Events: []policy.Event{{Seq: 7}}}
	for _, d := range []policy.Decision{
		{Action: policy.ActionDecline, Reason: "quiet", State: policy.JSON(`2`)},
		{Action: policy.ActionError, Message: "no key"},
	} {
		p, err := newGoPolicy(policy.Func(func(*policy.Input) policy.Decision { return d }), room.PolicyRef{Name: "mine", Digest: "d"})
		if err != nil {
			t.Fatal(err)
		}
		_, record, err := p.Propose(t.Context(), in)
		refused := d.Action == policy.ActionError
		var coded problem.Coded
		if (err != nil) != refused || refused && (!errors.As(err, &coded) || coded.ErrorCode() != "run.refused" || !strings.Contains(err.Error(), "no key")) {
			t.Errorf("%s: %v", d.Action, err)
		}
		record.Micros = 0
		want := policy.Record{ABI: policy.ABI, Engine: "go", Config: digestOf(nil), Input: digestOf(in.AppendJSON(nil))}
		if !reflect.DeepEqual(record, want) {
			t.Errorf("%s: the record is %+v, want %+v", d.Action, record, want)
		}
	}
}
