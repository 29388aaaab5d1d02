package kinds_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/kinds"
)

// TestRules checks each row of the table: who may send a message of the kind to whom,
// and that nobody else may.
func TestRules(t *testing.T) {
	parties := []kinds.Party{kinds.People, kinds.Manager, kinds.Worker, kinds.Agent}
	for _, r := range kinds.Rules() {
		got, ok := kinds.Of(r.Kind)
		if !ok || got != r {
			t.Errorf("%s: %+v", r.Kind, got)
		}
		for _, from := range parties {
			for _, to := range parties {
				allowed := r.From&from != 0 && r.To&to != 0
				if why := r.Check(from, to); (why == "") != allowed {
					t.Errorf("%s from %s to %s: %q", r.Kind, from, to, why)
				}
			}
		}
		for visibility, width := range map[string]int{"internal": 0, "user_redacted": 1, "user_visible": 2} {
			widest := map[string]int{"internal": 0, "user_visible": 2}[r.Visibility]
			if r.Narrows(visibility) != (width <= widest) {
				t.Errorf("%s at %s", r.Kind, visibility)
			}
		}
	}
	if _, ok := kinds.Of("gossip"); ok {
		t.Error("an unknown kind is known")
	}
}

// TestDocumented checks that docs/messages.md has the same table.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range kinds.Rules() {
		row := fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", r.Kind, r.From, r.To, r.Visibility)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/messages.md has no row %s", row)
		}
	}
}

// TestPartyOf checks the groups of participants by their roles.
func TestPartyOf(t *testing.T) {
	for _, c := range []struct {
		person bool
		role   string
		want   kinds.Party
	}{
		{false, "manager", kinds.Manager},
		{false, "Worker", kinds.Worker},
		{false, "specialist:pcb", kinds.Worker},
		{false, "specialist:", kinds.Agent},
		{false, "", kinds.Agent},
		{false, "reviewer", kinds.Agent},
		{true, "", kinds.People},
		{true, "manager", kinds.People | kinds.Manager},
	} {
		if got := kinds.PartyOf(c.person, c.role); got != c.want {
			t.Errorf("%t %q: %s", c.person, c.role, got)
		}
	}
}
