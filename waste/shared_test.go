package waste

import (
	"os"
	"testing"

	"github.com/folkmoot/moot/transcripts"
)

// TestWhoAndWhen counts the shared half of Who&When, as docs/waste.md states it.
func TestWhoAndWhen(t *testing.T) {
	f, err := os.Open("../../shared/transcripts/whowhen.jsonl.gz")
	if err != nil {
		t.Skip("the shared transcripts are not here")
	}
	defer f.Close()
	var a Account
	for c, err := range transcripts.ReadConversations(f, "whowhen.jsonl.gz") {
		if err != nil {
			t.Fatal(err)
		}
		if err := a.AddConversation(Labels{}.Run(c, "whowhen.jsonl.gz"), c); err != nil {
			t.Fatal(err)
		}
	}
	r := a.Report()
	for _, want := range []struct {
		group                      string
		runs, turns, after, failed int64
	}{{"whowhen/algo", 74, 659, 344, 74}, {"whowhen/hand", 25, 1315, 812, 25}} {
		for _, g := range r.Groups {
			if g.Group == want.group && (g.Runs != want.runs || g.Labelled != want.runs || g.Turns != want.turns || g.AfterError.Turns != want.after || g.Failed != want.failed) {
				t.Errorf("%+v", g)
			}
		}
	}
	if len(r.Groups) != 2 || r.Labelled != 99 {
		t.Errorf("%d groups, %d labelled", len(r.Groups), r.Labelled)
	}
}
