package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/plugins"
	"github.com/folkmoot/moot/policies"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/transcripts"
)

// TestSandbox replays built-in policies, in the sandbox, over a shared set:
// what `moot replay` does.
func TestSandbox(t *testing.T) {
	r := replayShared(t, "whowhen", "roundrobin", "mention")
	if r.Conversations != 95 || r.Decisions != 1074 {
		t.Errorf("%d decisions on %d conversations, want 1074 on 95", r.Decisions, r.Conversations)
	}
	if got := fmt.Sprintf("%.4f %.4f", r.Policies[0].Accuracy, r.Policies[0].MRR); got != "0.3976 0.6346" {
		t.Errorf("roundrobin: %s, want 0.3976 0.6346", got)
	}
	b, err := json.Marshal(r.Policies[0].Accuracy)
	if err != nil || string(b) != "0.3976" {
		t.Errorf("in JSON: %s, %v", b, err)
	}
	for _, p := range r.Policies {
		if p.Errors > 0 || p.Differing > 0 || p.Repeated < 130 {
			t.Errorf("%s: %d errors (%s), %d of %d differ when made twice", p.Policy, p.Errors, p.FirstError, p.Differing, p.Repeated)
		}
	}
}

func replayShared(tb testing.TB, set string, names ...string) *replay.Report {
	tb.Helper()
	file := filepath.Join("..", "..", "shared", "transcripts", set+".jsonl.gz")
	if _, err := os.Stat(file); err != nil {
		tb.Skip("the shared transcripts are not beside this checkout")
	}
	host, err := plugins.NewHost(plugins.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	defer host.Close()
	var c replay.Config
	for _, name := range names {
		p, err := host.Load(tb.Context(), plugins.Module{Name: name, Wasm: policies.Module(), Digest: policies.Digest(), Trusted: true})
		if err != nil {
			tb.Fatal(err)
		}
		c.Subjects = append(c.Subjects, replay.Subject{
			Name: name, Policy: p, Ref: room.PolicyRef{Use: name, Name: name, Digest: p.Digest(), Needs: policies.Manifest(name).Input},
		})
	}
	r, err := replay.Run(tb.Context(), c, func(yield func(replay.Transcript, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(replay.Transcript{}, err)
			return
		}
		defer f.Close()
		for c, err := range transcripts.ReadConversations(f, file) {
			if !yield(transcriptOf(c), err) || err != nil {
				return
			}
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func transcriptOf(c *transcripts.Conversation) replay.Transcript {
	if c == nil {
		return replay.Transcript{}
	}
	talk := &replay.Talk{ID: c.ID, Objective: c.Objective()}
	for _, p := range c.Participants {
		talk.Participants = append(talk.Participants, replay.Person{ID: p.ID, Kind: p.Kind, Role: p.Role})
	}
	talk.Turns = make([]replay.Turn, 0, len(c.Turns))
	for _, turn := range c.Turns {
		talk.Turns = append(talk.Turns, replay.Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees})
	}
	return replay.Transcript{Name: c.ID, Talk: talk}
}

// BenchmarkReplay is the whole of a set with one policy in the sandbox.
func BenchmarkReplay(b *testing.B) {
	for b.Loop() {
		r := replayShared(b, "whowhen", "roundrobin")
		b.ReportMetric(float64(r.Decisions)/r.Seconds, "decisions/s")
	}
}
