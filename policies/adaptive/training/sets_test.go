package training

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/replay/history"
	"github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/transcripts"
)

// A Set holds talks of one sort.
type Set struct {
	Name  string
	Talks []*history.Conversation
}

// ReadSet reads a file of conversations in the neutral format as a set with the
// name of the file. Their decisions are those that are recorded for their ids.
func ReadSet(path string, decisions map[string]*transcripts.DecisionList) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".jsonl"} {
		name = strings.TrimSuffix(name, ext)
	}
	var talks []*history.Conversation
	for c, err := range transcripts.ReadConversations(f, path) {
		if err == nil && decisions[c.ID] != nil {
			err = c.Join(decisions[c.ID])
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if t := source.Replayed(c); Decisions(t) > 0 {
			talks = append(talks, t)
		}
	}
	if len(talks) == 0 {
		return nil, fmt.Errorf("%s: no conversation in it has three participants and two turns", path)
	}
	return &Set{name, talks}, nil
}

// Split returns the parts of the set that are reported apart: the set
// whowhen holds runs of two unrelated systems.
func (s *Set) Split() []*Set {
	if s.Name != "whowhen" {
		return []*Set{s}
	}
	var algo, manual []*history.Conversation
	for _, t := range s.Talks {
		if strings.Contains(t.ID, "/algo/") {
			algo = append(algo, t)
		} else {
			manual = append(manual, t)
		}
	}
	if len(algo) == 0 || len(manual) == 0 {
		return []*Set{s}
	}
	return []*Set{{"ww-algo", algo}, {"ww-hand", manual}}
}

// measured replays talks with policies.
func measured(t *testing.T, talks []*history.Conversation, policies ...*adaptive.Policy) *report.Report {
	t.Helper()
	all := make([]dealt, len(policies))
	for i, p := range policies {
		all[i] = dealt{p}
	}
	r, err := replayed(t.Context(), talks, all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func learned(t *testing.T, talks []*history.Conversation) *adaptive.Team {
	t.Helper()
	team, err := Learn(talks)
	if err != nil {
		t.Fatal(err)
	}
	return team
}

// shared reads a set of the transcripts next to the checkout. It skips the test where they
// are missing.
func shared(tb testing.TB, name string) *Set {
	tb.Helper()
	s, err := ReadSet(sharedFile(tb, name), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func sharedFile(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", "transcripts", name+".jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		tb.Skip("the shared transcripts are not next to this checkout")
	}
	return path
}

// withDecisions reads the talks of a shared set with the decisions that are recorded
// elsewhere.
func withDecisions(t *testing.T, name string) []*history.Conversation {
	t.Helper()
	f, err := os.Open(sharedFile(t, name+"-decisions"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lists, err := transcripts.NewReader(f, name)
	if err != nil {
		t.Fatal(err)
	}
	decisions := map[string]*transcripts.DecisionList{}
	for l, err := range lists.Decisions() {
		if err != nil {
			t.Fatal(err)
		}
		decisions[l.ID] = l
	}
	s, err := ReadSet(sharedFile(t, name), decisions)
	if err != nil {
		t.Fatal(err)
	}
	return s.Talks
}
