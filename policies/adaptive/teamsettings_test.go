package adaptive

import (
	"bytes"
	"strings"
	"testing"
)

// TestTeamOfAnotherVersion: settings that cannot be read say what to do.
func TestTeamOfAnotherVersion(t *testing.T) {
	t.Parallel()
	team := &Team{Words: make([]float64, WordSlots)}
	team.SetCounts([]uint32{7, 9000}, []uint16{3, 1})
	good := append(team.AppendJSON([]byte(`{"team":`)), '}')
	if err := New().Configure(good); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"vectors":["`, `"counts":"`, `"words":"`} {
		bad := bytes.Replace(good, []byte(key), []byte(key+"gAAAgAAA"), 1) // as an earlier version wrote
		err := New().Configure(bad)
		if err == nil || !strings.Contains(err.Error(), "run `moot policy learn` again") || len(err.Error()) > 80 {
			t.Errorf("%s: %v", key, err)
		}
	}
}
