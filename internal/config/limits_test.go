package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// TestLimitKeys: SetLimit takes exactly the keys of the schema, and sets what
// room.yaml sets.
func TestLimitKeys(t *testing.T) {
	var s struct {
		Defs struct {
			Limits struct {
				Properties map[string]any `json:"properties"`
			} `json:"limits"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(s.Defs.Limits.Properties))
	var got, lines []string
	var set room.Limits
	for _, k := range limitKeys(&set) {
		got = append(got, k.name)
		name, value, _ := strings.Cut(k.example(), "=")
		lines = append(lines, name+": "+value)
		if err := SetLimit(&set, k.example()); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("keys %v\nschema %v", got, want)
	}
	r, ps := LoadText([]byte(head+"limits: {"+strings.Join(lines, ", ")+"}\n"), "", testOptions)
	if r == nil {
		t.Fatal(ps)
	}
	if !reflect.DeepEqual(r.Limits, set) {
		t.Errorf("set  %+v\nread %+v", set, r.Limits)
	}
	if got := ChangedLimits(room.Limits{}, set); len(got) != len(want) {
		t.Errorf("changed: %v", got)
	}
	var again room.Limits
	for _, a := range ChangedLimits(room.Limits{}, set) {
		if err := SetLimit(&again, a); err != nil {
			t.Error(err)
		}
	}
	if again != set {
		t.Errorf("written and read: %+v, want %+v", again, set)
	}
}

func TestSetLimitRefuses(t *testing.T) {
	for assignment, fix := range map[string]string{
		"maxTurn=3":       `did you mean "maxTurns"?`,
		"colour=3":        "the limits are maxTurns, maxDuration",
		"maxTurns=0":      "write a whole number",
		"maxTurns":        "such as maxTurns=60",
		"maxTurns=1e3":    "write a whole number",
		"maxDuration=5":   "such as maxDuration=15m",
		"maxDuration=-5m": "write a duration",
		"maxCost=0":       "in the currency",
		"maxCost=NaN":     "in the currency",
		"maxCost=2000000": "in the currency",
	} {
		l := room.Limits{MaxTurns: 7, MaxCost: 8, MaxDuration: time.Minute}
		err := SetLimit(&l, assignment)
		p, ok := err.(*problem.Error)
		if !ok || !strings.Contains(p.Fix, fix) || l != (room.Limits{MaxTurns: 7, MaxCost: 8, MaxDuration: time.Minute}) {
			t.Errorf("%s: %v, %+v", assignment, err, l)
		}
	}
}
