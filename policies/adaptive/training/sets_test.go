package training

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/folkmoot/moot/transcripts"
)

// A Set holds talks of one sort.
type Set struct {
	Name  string
	Talks []*Talk
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
	return &Set{name, talks}, nil
}

// Split returns the parts of the set that are reported apart: the set
// whowhen holds runs of two unrelated systems.
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
	return []*Set{{"ww-algo", algo}, {"ww-hand", manual}}
}
