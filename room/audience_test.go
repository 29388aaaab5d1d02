package room_test

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestVisibleAtHidesDrafts checks that readers without control see no drafts and
// no settings of the host.
func TestSeen(t *testing.T) {
	s := &script{}
	for _, line := range []string{"open a/manual me/human", "claim", "speak a go", "said a secret draft", "edit a better secret"} {
		s.do(t, discard(), line)
	}
	if v := s.state.View(room.UserVisible); v.Draft != nil {
		t.Errorf("the view shows the draft %+v", v.Draft)
	}
	if v := s.state.View(room.Internal); v.Draft == nil || v.Draft.Message.Text != "a better secret" {
		t.Errorf("the view of who reviews it shows %+v", v.Draft)
	}
	for _, e := range s.log {
		seen, ok := e.VisibleAt(room.UserVisible)
		if !ok {
			continue
		}
		b, err := room.MarshalEvent(seen)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "secret draft") || strings.Contains(string(b), "better") || strings.Contains(string(b), `"secret":"s"`) {
			t.Errorf("a reader sees %s", b)
		}
	}
}
