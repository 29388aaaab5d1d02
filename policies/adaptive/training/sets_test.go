package training

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/transcripts"
)

// A Set holds talks of one sort.
type Set struct {
	Name   string
	Family string // sets of one family are left out together
	Source string // the file's family
	Agents bool   // the first talk is in a room of agents
	Talks  []*Talk
}

// ReadSet reads a file of conversations in the neutral format as a set with the
// name of the file.
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

// familyOf returns the source of a set. Sets of one source are not independent.
func familyOf(name string) string {
	switch name {
	case "irc-threads", "irc-channels":
		return "irc"
	case "space-short", "long-space":
		return "space"
	}
	return name
}

// Split returns the parts of the set that have a vector each in a prior. The
// set whowhen holds runs of two unrelated systems.
func (s *Set) Split() []*Set {
	if s.Name != "whowhen" {
		return []*Set{s}
	}
	var algo, manual []*Talk
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
	parts := []*Set{newSet("ww-algo", algo), newSet("ww-hand", manual)}
	for _, p := range parts {
		p.Source = s.Source
	}
	return parts
}

// Decisions returns the number of decisions of the set.
func (s *Set) Decisions() (n int) {
	for _, t := range s.Talks {
		n += t.Decisions()
	}
	return n
}
