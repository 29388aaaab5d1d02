package adaptive_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// TestAgreement holds the policy to what it reached on the shared halves when
// it was written, less a point, so that a mistake in a formula is noticed. The
// best rule without learning is beside it, from replay.md.
func TestAgreement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set      string
		want     float64 // per cent
		bestRule float64
	}{
		{"whowhen", 69.0, 69.3},
		{"delidata", 41.3, 42.7},
		{"meetings-committee", 52.6, 54.8},
		{"llmafia", 20.4, 20.4},
		{"irc-threads", 55.6, 59.5},
		{"space-short", 78.5, 79.4},
		{"meetings-ami", 48.1, 48.5},
	} {
		t.Run(c.set, func(t *testing.T) {
			hits, all, most := 0, 0, 0
			for _, conversation := range load(t, c.set+".jsonl.gz") {
				h, n, size := agreement(t, conversation)
				hits, all, most = hits+h, all+n, max(most, size)
			}
			got := 100 * float64(hits) / float64(all)
			t.Logf("%s: %.2f %% of %d decisions (best rule %.1f), state up to %d bytes", c.set, got, all, c.bestRule, most)
			if got < c.want {
				t.Errorf("%.2f %%, want %.2f", got, c.want)
			}
		})
	}
}

type transcript struct {
	Participants []struct{ ID, Kind, Role string }
	Turns        []struct{ Speaker, Text string }
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

// agreement replays one conversation, the state passed from decision to
// decision as JSON.
func agreement(t *testing.T, c transcript) (hits, all, size int) {
	t.Helper()
	var speakers, texts, roster []string
	for _, s := range c.Turns {
		if n := len(speakers); n > 0 && speakers[n-1] == s.Speaker {
			texts[n-1] += "\n" + s.Text
			continue
		}
		speakers, texts = append(speakers, s.Speaker), append(texts, s.Text)
	}
	roster = slices.Compact(slices.Sorted(slices.Values(speakers)))
	if len(roster) < 3 {
		return 0, 0, 0
	}
	names := room.NewNames(roster, nil)
	agents := make([]policy.Agent, len(roster))
	for i, id := range roster {
		agents[i] = policy.Agent{ID: id, Kind: kindOf(c, id), Role: roleOf(c, id)}
	}
	p := adaptive.New()
	var state policy.JSON
	for k := 1; k < len(speakers); k++ {
		e := policy.Event{Seq: int64(k), Turn: k, From: speakers[k-1], Kind: policy.KindMessage, Text: texts[k-1]}
		e.Mentions, e.Addressed = names.Scan(texts[k-1], speakers[k-1])
		for i := range agents {
			agents[i].Eligible = agents[i].ID != speakers[k-1]
		}
		d := p.Decide(&policy.Input{ABI: policy.ABI, Init: k == 1, Agents: agents, Events: []policy.Event{e}, State: state})
		if d.Agent == speakers[k] {
			hits++
		}
		state = d.State
		size = max(size, len(state))
	}
	return hits, len(speakers) - 1, size
}

func kindOf(c transcript, id string) string {
	for _, p := range c.Participants {
		if p.ID == id && p.Kind == "human" {
			return policy.Human
		}
	}
	return policy.Local
}

func roleOf(c transcript, id string) string {
	for _, p := range c.Participants {
		if p.ID == id && p.Kind == "tool" && p.Role == "" {
			return "tool"
		}
	}
	return ""
}
