package training

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/replay/history"
)

// sandboxed loads a built-in policy as a room does.
func sandboxed(tb testing.TB, name string, settings policy.JSON) *plugins.Policy {
	tb.Helper()
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := host.Close(); err != nil {
			tb.Error(err)
		}
	})
	p, err := host.Load(tb.Context(), plugins.Module{
		Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Settings: settings, Trusted: true,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// inputs are the first most decisions of a talk, as bytes, each with the state
// that the decision before left.
func inputs(tb testing.TB, p *adaptive.Policy, t *history.Conversation, most int) (all [][]byte) {
	tb.Helper()
	err := walk(t, choices, func(in *policy.Input, _ *history.Point) policy.JSON {
		if len(all) == most {
			return nil
		}
		all = append(all, in.AppendJSON(nil))
		return p.Decide(in).State
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestSandboxEqualsNative: the module in the sandbox and the package in this
// process give the same bytes for all decisions.
func TestSandboxEqualsNative(t *testing.T) {
	t.Parallel()
	guest := sandboxed(t, "adaptive", nil)
	for _, c := range []struct {
		set   string
		talks int
	}{{"whowhen", 12}, {"meetings-committee", 3}, {"irc-channels", 1}, {"llmafia", 2}} {
		t.Run(c.set, func(t *testing.T) {
			for _, talk := range shared(t, c.set).Talks[:c.talks] {
				native := policy.NewModule(policy.Named{Name: "adaptive", Policy: adaptive.New()})
				for i, in := range inputs(t, adaptive.New(), talk, 400) {
					r, err := guest.Run(t.Context(), in)
					if err != nil {
						t.Fatal(err)
					}
					if want := native.Decide(in); !bytes.Equal(r.Output, want) {
						t.Fatalf("%s, decision %d: in the sandbox\n%s\nin this process\n%s", talk.ID, i+1, r.Output, want)
					}
				}
			}
		})
	}
}

// TestFuelSuffices: a decision about the largest input of a room stays within the
// default fuel.
func TestFuelSuffices(t *testing.T) {
	t.Parallel()
	in := policy.Input{ABI: policy.ABI, Init: true, Room: "r"}
	for i := range 100 {
		id := fmt.Sprintf("Data_Expert_%d_of_Many", i)
		in.Agents = append(in.Agents, policy.Agent{ID: id, Name: "Mr Number " + id, Kind: policy.Local, Eligible: true})
	}
	for i := range policy.MaxEvents {
		e := policy.Event{Seq: int64(i + 1), From: in.Agents[i%100].ID, Kind: policy.KindMessage}
		for k := range 8 {
			e.Mentions = append(e.Mentions, in.Agents[(i+k+1)%100].ID)
		}
		e.Text = strings.Repeat("ask "+strings.Join(e.Mentions, ", then ")+"? ", 8)
		in.Events = append(in.Events, e)
	}
	text := in.AppendJSON(nil)
	for _, name := range []string{"roundrobin", "adaptive"} {
		r, err := sandboxed(t, name, nil).Run(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes of input took %d units of fuel", name, len(text), r.Fuel)
	}
}
