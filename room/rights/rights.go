// Package rights computes what an agent may do with tools, and what it may let
// others do.
//
// A right is a kind of actions. Its name is that of the tool kinds of the Agent
// Client Protocol, so that a permission request needs no translation:
//
//	right     an agent with it may
//	read      read files
//	edit      create files and change them
//	delete    delete files
//	move      move and rename files
//	search    search in files
//	execute   run programs
//	think     use a tool that only plans or takes notes
//	fetch     get data from the network
//	other     use a tool of any other kind
//
// The tools of moot's own server (Model Context Protocol) need no other names. To
// read a room and to post in it follow from the seat and its token. To call another
// agent follows from the key calls of the seat.
package rights

import (
	"fmt"
	"strings"
)

// A Set is a set of rights. The zero Set has none.
type Set uint16

// The rights, one bit each.
const (
	Read Set = 1 << iota
	Edit
	Delete
	Move
	Search
	Execute
	Think
	Fetch
	Other
)

// None and All are the smallest and the largest set.
const (
	None Set = 0
	All  Set = Other<<1 - 1
)

// names has the name of each right, in the order of the bits.
var names = [...]string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"}

// Parse returns the set of the rights with these names, in any order. It refuses a
// name that is none.
func Parse(list []string) (Set, error) {
	var s Set
	for _, name := range list {
		right, ok := byName(name)
		if !ok {
			return None, fmt.Errorf("no right %.40q: the rights are %s", name, All)
		}
		s |= right
	}
	return s, nil
}

// Of is [Parse] without the names that are no rights.
func Of(list []string) (s Set) {
	for _, name := range list {
		right, _ := byName(name)
		s |= right
	}
	return s
}

// Kind returns the right that an action of a kind needs. An unknown kind is other.
func Kind(kind string) Set {
	if right, ok := byName(kind); ok {
		return right
	}
	return Other
}

func byName(name string) (Set, bool) {
	for i, n := range names {
		if n == name {
			return 1 << i, true
		}
	}
	return None, false
}

// Has reports whether s has all rights of t.
func (s Set) Has(t Set) bool { return t&^s == 0 }

// Names returns the names of the rights in s, in the order of the table. It is
// never nil, because a list that is absent stands for the default.
func (s Set) Names() []string {
	list := []string{}
	for i, name := range names {
		if s.Has(1 << i) {
			list = append(list, name)
		}
	}
	return list
}

// String returns the names, separated by commas.
func (s Set) String() string {
	if s&All == None {
		return "none"
	}
	return strings.Join(s.Names(), ", ")
}

// Verb returns what an agent does with the first right of s, for a sentence.
func (s Set) Verb() string {
	for i, name := range names {
		if !s.Has(1 << i) {
			continue
		}
		if name == "other" {
			return "use tools of other kinds"
		}
		return name
	}
	return "do nothing"
}

// planner is the role that plans and lets others do.
const planner = "manager"

// Defaults returns the rights of a seat whose owner states none: what its agent may
// use, and what it may delegate. A seat with the role manager plans and reads, and uses
// tools of other kinds, because agents give the tools of moot's server that kind. Its
// owner decides about each. It delegates what it may not use itself. Other seats
// delegate what they use.
func Defaults(role string) (use, delegate Set) {
	if role == planner {
		return Read | Search | Think | Fetch | Other, All
	}
	return All, All
}

// For returns the rights of a seat with a role and these lists. A list that is nil is
// the default of the role. An agent with a list of its own delegates no more than that,
// unless it states what it delegates or has the role manager.
func For(role string, mayUse, mayDelegate []string) (use, delegate Set) {
	use, delegate = Defaults(role)
	if mayUse != nil {
		use = Of(mayUse)
		if role != planner {
			delegate = use
		}
	}
	if mayDelegate != nil {
		delegate = Of(mayDelegate)
	}
	return use, delegate
}

// Effective returns the rights of an agent that is called. own is what it may use
// itself, requested is what its caller asks for, and ceiling is that of the room.
// delegable has a set for each agent of the chain of callers, in any order: what it
// may delegate. The result is in all of these sets. So it is never wider than what
// any of the callers may delegate, however it was asked for.
//
// An agent can delegate more than it may use itself.
func Effective(own Set, delegable []Set, requested, ceiling Set) Set {
	s := own & requested & ceiling & All
	for _, d := range delegable {
		s &= d
	}
	return s
}
