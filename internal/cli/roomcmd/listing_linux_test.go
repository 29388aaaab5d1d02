package roomcmd

import (
	"bufio"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/termtest"
)

// TestListingTerminal writes a list to terminals: each line fits, and has no colours.
func TestListingTerminal(t *testing.T) {
	for columns, want := range map[int]string{
		60: "12 lead dba utterance held",
		90: "12  lead  dba  utterance  held   ",
	} {
		ours, theirs := termtest.Pty(t, columns, 24)
		a := &commands{&app.App{Stdout: theirs, Format: app.FormatTable}}
		rows := []api.Delivery{{ID: "m2", Seq: 12, From: "lead", To: "dba", Kind: "utterance", State: "held", Reason: strings.Repeat("over the rate ", 20)}}
		if err := emitListing(a, rows, deliveryTable, rows); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		in := bufio.NewScanner(ours)
		found := false
		for !found && in.Scan() {
			line := strings.TrimRight(in.Text(), "\r")
			found = strings.HasPrefix(line, want)
			if len([]rune(line)) > columns || strings.Contains(line, "\x1b") {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if !found {
			t.Errorf("%d columns: no line begins with %q", columns, want)
		}
	}
}
