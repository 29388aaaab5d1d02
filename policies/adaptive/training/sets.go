package training

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/transcripts"
)

// A Set is talks of one sort.
type Set struct {
	Name   string
	Family string // sets of one family are left out together
	Source string // the file's family
	Agents bool   // its talks are in agent rooms, judged by the first
	Talks  []*Talk
}

// ReadSet reads a file of conversations in the neutral format as a set that is
// called as the file is.
func ReadSet(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".jsonl"} {
		name = strings.TrimSuffix(name, ext)
	}
	var talks []*Talk
	for c, err := range transcripts.ReadConversations(f, path) {
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if t := NewTalk(c); t != nil {
			talks = append(talks, t)
		}
	}
	if len(talks) == 0 {
		return nil, fmt.Errorf("%s: no conversation in it has three participants and two turns", path)
	}
	return newSet(name, talks), nil
}

func newSet(name string, talks []*Talk) *Set {
	return &Set{Name: name, Family: familyOf(name), Source: familyOf(name), Agents: adaptive.AgentRoom(talks[0].agents), Talks: talks}
}

// familyOf tells which sets are of the same source: what is learnt from one
// is not foreign to the other.
func familyOf(name string) string {
	switch name {
	case "irc-threads", "irc-channels":
		return "irc"
	case "space-short", "long-space":
		return "space"
	}
	return name
}

// Split returns the set in the parts that a prior has a vector each for. Who&When
// holds runs of two systems that have nothing to do with one another.
func (s *Set) Split() []*Set {
	if s.Name != "whowhen" {
		return []*Set{s}
	}
	var algo, hand []*Talk
	for _, t := range s.Talks {
		if strings.Contains(t.ID, "/algo/") {
			algo = append(algo, t)
		} else {
			hand = append(hand, t)
		}
	}
	if len(algo) == 0 || len(hand) == 0 {
		return []*Set{s}
	}
	parts := []*Set{newSet("ww-algo", algo), newSet("ww-hand", hand)}
	for _, p := range parts {
		p.Source = s.Source
	}
	return parts
}

// Decisions is how many decisions the set has.
func (s *Set) Decisions() (n int) {
	for _, t := range s.Talks {
		n += t.Decisions()
	}
	return n
}
