package endpoint_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
)

// TestBoundedDiffs: a person sees all that an action writes, or is told that it is too
// long.
func TestBoundedDiffs(t *testing.T) {
	fits := strings.Repeat("x", 64<<10-2)
	for _, c := range []struct {
		name  string
		diffs []endpoint.Diff
		want  []endpoint.Diff
		long  bool
	}{
		{"none", nil, nil, false},
		{"as long as may be", []endpoint.Diff{{Path: "a", Old: "b", New: fits}}, []endpoint.Diff{{Path: "a", Old: "b", New: fits}}, false},
		{"too long", []endpoint.Diff{{Path: "a", Old: "bc", New: fits}}, nil, true},
		{"two too long", []endpoint.Diff{{Path: "a", New: fits}, {Path: "bc"}}, nil, true},
		{"a long path", []endpoint.Diff{{Path: fits[:4097]}}, nil, true},
		{"too many", make([]endpoint.Diff, 101), nil, true},
		{"invalid text", []endpoint.Diff{{Path: "a\xff", Old: "\xff", New: "\x1b\xff"}}, []endpoint.Diff{{Path: "a\ufffd", Old: "\ufffd", New: "\x1b\ufffd"}}, false},
	} {
		got, whole := endpoint.Permission{Kind: endpoint.ActionEdit, Diffs: c.diffs}.Bounded()
		if !whole || got.Long != c.long || !reflect.DeepEqual(got.Diffs, c.want) {
			t.Errorf("%s: %d diffs, long is %t, whole is %t", c.name, len(got.Diffs), got.Long, whole)
		}
	}
	if got, whole := (endpoint.Permission{Command: strings.Repeat("x", 16_001), Diffs: []endpoint.Diff{{Path: "a"}}}).Bounded(); whole || got.Diffs != nil {
		t.Errorf("a long command keeps %+v", got.Diffs)
	}
	if got, _ := (endpoint.Permission{Long: true}).Bounded(); !got.Long {
		t.Error("what was too long is whole again")
	}
}
