package transcripts

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWriteBars(t *testing.T) {
	s := &Stats{Gini: 0.5, Participants: []ParticipantStats{
		{ID: "ana", Airtime: 0.75}, {ID: "dba", Name: "a name that is longer than what a terminal has room for", Airtime: 0.2499}, {ID: "\x1b[31mx", Airtime: 0.0001}, {ID: "nobody"},
	}}
	var b strings.Builder
	if err := s.WriteBars(&b, 80); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.Trim(b.String(), "\n"), "\n")
	if len(lines) != 4 || strings.Contains(b.String(), "\x1b") {
		t.Fatalf("%q", b.String())
	}
	for i, full := range []int{27, 9, 0, 0} {
		if n := strings.Count(lines[i], "█"); n != full || utf8.RuneCountInString(lines[i]) > 80 {
			t.Errorf("%d full blocks, want %d: %q", n, full, lines[i])
		}
	}
	if !strings.Contains(lines[2], "▏") || strings.ContainsAny(lines[3], "▏▎▍▌▋▊▉█") {
		t.Errorf("a small share needs a bar, no share needs none:\n%s", b.String())
	}
	b.Reset()
	if err := s.WriteBars(&b, 30); err != nil || b.Len() > 0 {
		t.Errorf("in 30 columns: %q, %v", b.String(), err)
	}
}
