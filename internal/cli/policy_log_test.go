//go:build unix

package cli

import (
	"testing"

	"github.com/folkmoot/moot/internal/pack"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log/sqlite"
)

// A room whose built-in policy was that of another release is opened with the
// module that its log kept, in the sandbox of strangers.
func TestPolicyOfAnotherRelease(t *testing.T) {
	a := &app{}
	a.settings.Data, a.settings.Cache = t.TempDir(), sharedCache(t)
	db, err := sqlite.Open(sqlite.Config{Dir: a.settings.Data})
	if err != nil {
		t.Fatal(err)
	}
	sandbox, err := a.sandbox()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{app: a, log: db, sandbox: sandbox}
	t.Cleanup(func() {
		if err := sandbox.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	other, err := pack.Embed(policies.Module(), "of another release", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.keep(t.Context(), &supply{Origin: originBuiltIn, Module: other}); err != nil {
		t.Fatal(err)
	}
	ref := room.PolicyRef{Use: "roundrobin", Name: "roundrobin", Digest: pack.Digest(other)}
	s, err := moduleOf(t.Context(), db, ref)
	if err != nil || s.Origin != originLog || s.Manifest.Name != "roundrobin" {
		t.Fatalf("found %+v, %v", s, err)
	}
	p, err := h.load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{ABI: policy.ABI, Init: true, Room: "r", Decision: 1, Turn: 1, Agents: []policy.Agent{{ID: "ann", Name: "ann", Kind: policy.Local, Eligible: true}}}
	d, rec, err := p.Propose(t.Context(), in)
	if err != nil || d.Agent != "ann" || rec.Digest != ref.Digest {
		t.Errorf("decides %+v, %+v, %v", d, rec, err)
	}
}
