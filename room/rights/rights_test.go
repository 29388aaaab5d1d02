package rights_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/rights"
)

// TestNames: each right has a name, which is read back.
func TestNames(t *testing.T) {
	want := strings.Fields("read edit delete move search execute think fetch other")
	if got := rights.All.Names(); !slices.Equal(got, want) {
		t.Fatalf("the rights are %q", got)
	}
	for i, name := range want {
		s, err := rights.Parse([]string{name})
		if err != nil || s != 1<<i || s != rights.Kind(name) || s.String() != name || !slices.Equal(s.Names(), []string{name}) {
			t.Errorf("%s is %d, %v", name, s, err)
		}
	}
	if s := rights.Kind("switch_mode"); s != rights.Other {
		t.Errorf("an unknown kind needs %s", s)
	}
	if got := rights.None.Names(); got == nil || len(got) > 0 || rights.None.String() != "none" {
		t.Errorf("no right is %q, %s", got, rights.None)
	}
}

// TestParse refuses a name that is no right: a rule with a typing error must not
// give less or more than it says.
func TestParse(t *testing.T) {
	for _, list := range [][]string{{"read", "write"}, {""}, {"Read"}, {"read "}, {"read,edit"}} {
		if s, err := rights.Parse(list); err == nil || s != rights.None || !strings.Contains(err.Error(), "the rights are read, edit") {
			t.Errorf("%q is %s, %v", list, s, err)
		}
	}
	if s, err := rights.Parse([]string{"edit", "read", "edit"}); err != nil || s != rights.Read|rights.Edit {
		t.Errorf("%s, %v", s, err)
	}
	if s := rights.Of([]string{"write", "edit"}); s != rights.Edit {
		t.Errorf("%s", s)
	}
}

// TestHas: all rights of the other set are needed.
func TestHas(t *testing.T) {
	s := rights.Read | rights.Edit
	if !s.Has(rights.Read) || !s.Has(rights.None) || !s.Has(s) || s.Has(rights.Move) || s.Has(rights.Read|rights.Move) {
		t.Error("Has is wrong")
	}
}

// TestDefaults: a seat with the role manager may delegate what it may not use.
func TestDefaults(t *testing.T) {
	use, delegate := rights.Defaults("manager")
	if use.String() != "read, search, think, fetch, other" || delegate != rights.All {
		t.Errorf("manager: %s; %s", use, delegate)
	}
	for _, role := range []string{"", "worker", "specialist:db", "Manager"} {
		if use, delegate := rights.Defaults(role); use != rights.All || delegate != rights.All {
			t.Errorf("%q: %s; %s", role, use, delegate)
		}
	}
}

// TestAllowedToolsNarrowOnly is about a fault of the sub-agent note's code, in which
// the tools of a request replaced those of the agent: a request adds nothing.
func TestAllowedToolsNarrowOnly(t *testing.T) {
	own := rights.Read | rights.Search
	if got := rights.Effective(own, nil, rights.All, rights.All); got != own {
		t.Errorf("asking for all gives %s", got)
	}
	if got := rights.Effective(own, nil, rights.Read|rights.Execute, rights.All); got != rights.Read {
		t.Errorf("asking for execute gives %s", got)
	}
}

// TestDelegateMoreThanUsed: a caller that only reads gives its sub-agent edit, if it
// may delegate that, and no caller above it may be passed over.
func TestDelegateMoreThanUsed(t *testing.T) {
	_, all := rights.Defaults("manager")
	if got := rights.Effective(rights.All, []rights.Set{all}, rights.Edit, rights.All); got != rights.Edit {
		t.Errorf("the sub-agent has %s", got)
	}
	if got := rights.Effective(rights.All, []rights.Set{rights.Read, all}, rights.Edit|rights.Read, rights.All); got != rights.Read {
		t.Errorf("below a caller that delegates read it has %s", got)
	}
	if got := rights.Effective(rights.All, []rights.Set{all, rights.Read}, rights.Edit|rights.Read, rights.All); got != rights.Read {
		t.Errorf("above a caller that delegates read it has %s", got)
	}
	if got := rights.Effective(rights.All, nil, rights.All, rights.Fetch); got != rights.Fetch {
		t.Errorf("under the ceiling fetch it has %s", got)
	}
	if got := rights.Effective(^rights.None, nil, ^rights.None, ^rights.None); got != rights.All {
		t.Errorf("bits that are no right count: %b", got)
	}
}

// TestVerb: the first right gives the word of a refusal.
func TestVerb(t *testing.T) {
	for s, want := range map[rights.Set]string{rights.Edit | rights.Execute: "edit", rights.Other: "use tools of other kinds", rights.None: "do nothing"} {
		if got := s.Verb(); got != want {
			t.Errorf("%s is %q", s, got)
		}
	}
}

// TestFor: a list replaces the default, and an empty one takes all rights away.
func TestFor(t *testing.T) {
	for _, c := range []struct {
		role                  string
		use, delegate         []string
		wantUse, wantDelegate string
	}{
		{"", nil, nil, rights.All.String(), rights.All.String()},
		{"", []string{"read"}, nil, "read", "read"},
		{"", []string{}, nil, "none", "none"},
		{"", []string{"read"}, []string{"edit"}, "read", "edit"},
		{"", nil, []string{}, rights.All.String(), "none"},
		{"manager", nil, nil, "read, search, think, fetch, other", rights.All.String()},
		{"manager", []string{"read"}, nil, "read", rights.All.String()},
		{"manager", nil, []string{"read"}, "read, search, think, fetch, other", "read"},
	} {
		if use, delegate := rights.For(c.role, c.use, c.delegate); use.String() != c.wantUse || delegate.String() != c.wantDelegate {
			t.Errorf("%q %q %q: %s; %s", c.role, c.use, c.delegate, use, delegate)
		}
	}
}
