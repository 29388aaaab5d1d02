package transcripts

import (
	"testing"
	"time"
)

// TestWall: a time is read by the layout that it looks like, and as if all of
// them had been tried.
func TestWall(t *testing.T) {
	tried := func(s string) (time.Time, bool) {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if at, err := time.Parse(layout, s); err == nil && at.Year() > 0 {
				return at.UTC(), true
			}
		}
		return time.Time{}, false
	}
	for _, s := range []string{
		"2008-07-14T12:18:03Z", "2008-07-14T12:18:03.25+02:00", "2008-07-14T12:18:03-05:00", "2008-07-14T12:18:03", "2008-07-14T12:18",
		"2008-07-14T2:18", "2008-07-14T2:18:03Z", "2008-07-14T12:18:03.5", "2008-07-14T12:18Z", "2008-07-14", "12:18", "2008-07-14 12:18:03",
		"0000-07-14T12:18:03Z", "2008-13-14T12:18", "T", "x", "2008-07-14T12:18:03T", "2008-07-14T12:18:", "2008-07-14T::Z",
	} {
		want, ok := tried(s)
		got, err := (&Turn{At: s}).wall()
		if ok != (err == nil) || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
}
