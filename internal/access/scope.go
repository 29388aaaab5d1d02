package access

import (
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// A Scope says what a caller may do. A greater scope includes the smaller ones.
// The zero Scope allows nothing.
type Scope int

// Scopes.
const (
	Read    Scope = iota + 1 // read what people without control see
	Talk                     // and post messages
	Control                  // and approve, pause, stop, take over and answer
	Admin                    // and manage the device: tokens, shares, invites, new rooms
)

var scopeNames = [...]string{Read: "read", Talk: "talk", Control: "control", Admin: "admin"}

// ScopeNames lists the scopes, the smallest first.
func ScopeNames() []string { return scopeNames[Read:] }

// String returns the name of s, "none" if it has none.
func (s Scope) String() string {
	if s < Read || s > Admin {
		return "none"
	}
	return scopeNames[s]
}

// ParseScope returns the scope with that name.
func ParseScope(name string) (Scope, error) {
	for s := Read; s <= Admin; s++ {
		if scopeNames[s] == name {
			return s, nil
		}
	}
	return 0, &problem.Error{Code: "TOKEN-SCOPE", What: fmt.Sprintf("%.20q is no scope", name), Fix: "use read, talk, control or admin"}
}

// MarshalText returns the name of s. A Scope without a name is an error.
func (s Scope) MarshalText() ([]byte, error) {
	if s < Read || s > Admin {
		return nil, fmt.Errorf("%d is no scope", int(s))
	}
	return []byte(scopeNames[s]), nil
}

// UnmarshalText is [ParseScope].
func (s *Scope) UnmarshalText(b []byte) (err error) {
	*s, err = ParseScope(string(b))
	return err
}
