package roundrobin_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/policies/roundrobin"
)

type transcript struct {
	Participants []struct{ ID, Kind string }
	Turns        []struct{ Speaker, Text string }
}

// speakers returns who spoke, consecutive turns of one speaker merged.
func (c transcript) speakers() (out []string) {
	for _, t := range c.Turns {
		if len(out) == 0 || out[len(out)-1] != t.Speaker {
			out = append(out, t.Speaker)
		}
	}
	return out
}

func load(t *testing.T, name string) (all []transcript) {
	t.Helper()
	f, err := os.Open("../../../shared/transcripts/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared transcripts are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(z); ; {
		var c transcript
		if err := dec.Decode(&c); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
}

// TestAgreementOnWhoWhen: with the roster in byte order the policy agrees with
// 39.76 % of the speakers of Who&When, which is what the definition of
// round-robin gives.
func TestAgreementOnWhoWhen(t *testing.T) {
	t.Parallel()
	hits, all := 0, 0
	for _, c := range load(t, "whowhen.jsonl.gz") {
		h, n := agreement(t, c)
		hits, all = hits+h, all+n
	}
	if got := float64(hits) / float64(all); all != 1074 || math.Round(got*1e4) != 3976 {
		t.Errorf("%d of %d decisions, %.4f; want 0.3976 of 1074", hits, all, got)
	}
}

func agreement(t *testing.T, c transcript) (hits, all int) {
	t.Helper()
	speakers := c.speakers()
	roster := slices.Compact(slices.Sorted(slices.Values(speakers)))
	if len(roster) < 3 {
		return 0, 0
	}
	agents := make([]policy.Agent, len(roster))
	for i, id := range roster {
		agents[i] = policy.Agent{ID: id, Kind: kindOf(c, id)}
	}
	p := roundrobin.New()
	for k := 1; k < len(speakers); k++ {
		in := policy.Input{
			ABI: policy.ABI, Init: k == 1, Agents: agents,
			Events: []policy.Event{{Seq: int64(k), Turn: k, From: speakers[k-1], Kind: policy.KindMessage}},
		}
		for i := range agents {
			a := &agents[i]
			if a.Eligible = a.ID != speakers[k-1]; !a.Eligible {
				a.Turns, a.LastTurn = a.Turns+1, k
			}
		}
		d := p.Decide(&in)
		if d.Action != policy.ActionSpeak || len(d.Scores) != len(roster)-1 {
			t.Fatalf("%+v", d)
		}
		if d.Agent == speakers[k] {
			hits++
		}
	}
	return hits, len(speakers) - 1
}

func kindOf(c transcript, id string) string {
	for _, p := range c.Participants {
		if p.ID == id && p.Kind == "human" {
			return policy.Human
		}
	}
	return policy.Local
}
