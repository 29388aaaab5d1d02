package rights_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/folkmoot/moot/room/rights"
)

// list is a set of rights in the form of the oracle, which knows nothing of bits:
// for each name of the table whether it is there.
type list [9]bool

// lists has the list of each set, made by names.
var lists = makeLists()

// A node is an agent in a tree of calls. The first is the root, which no agent has
// called.
type node struct {
	parent                            int // index, -1 of the root
	own, delegate, requested, ceiling rights.Set
}

// An effective is a function with the arguments of [rights.Effective].
type effective func(own rights.Set, delegable []rights.Set, requested, ceiling rights.Set) rights.Set

func makeLists() (lists [rights.All + 1]list) {
	all := rights.All.Names()
	for n := range 1 << len(all) {
		var l list
		var names []string
		for i, name := range all {
			if l[i] = n>>i&1 == 1; l[i] {
				names = append(names, name)
			}
		}
		s, err := rights.Parse(names)
		if err != nil {
			panic(err)
		}
		lists[s] = l
	}
	return lists
}

// randomTree makes a tree of calls with at most 12 agents in nodes. Half of the sets
// are narrow, so that every right is missing somewhere.
func randomTree(rng *rand.Rand, nodes []node) []node {
	set := func(n uint64) rights.Set {
		s := rights.Set(n) & rights.All
		if n>>63 == 0 {
			s |= rights.Set(n>>16) & rights.All
		}
		return s
	}
	tree := nodes[:1+rng.IntN(12)]
	for i := range tree {
		tree[i] = node{max(0, rng.IntN(i+1)-1), set(rng.Uint64()), set(rng.Uint64()), set(rng.Uint64()), set(rng.Uint64())}
	}
	tree[0].parent = -1
	return tree
}

// wrong returns which rights of an agent in the tree f computes wrongly, "" for
// none. The oracle decides about each right by itself, with a walk up the tree.
func wrong(tree []node, f effective) string {
	chain := make([]rights.Set, 0, 12)
	for i, n := range tree[1:] {
		chain = chain[:0]
		for up := n.parent; up >= 0; up = tree[up].parent {
			chain = append(chain, tree[up].delegate)
		}
		got := lists[f(n.own, chain, n.requested, n.ceiling)]
		own, requested, ceiling := &lists[n.own], &lists[n.requested], &lists[n.ceiling]
		for right := range got {
			want := own[right] && requested[right] && ceiling[right]
			for up := n.parent; want && up >= 0; up = tree[up].parent {
				want = lists[tree[up].delegate][right]
			}
			if got[right] != want {
				return fmt.Sprintf("agent %d of %+v: the right %s is %t, want %t", i+1, tree, rights.All.Names()[right], got[right], want)
			}
		}
	}
	return ""
}

// TestTrees checks random trees of calls and delegations: no agent has a right that
// one of its callers may not delegate, that it lacks itself, that was not asked for
// or that the room does not give; and it has all others.
func TestTrees(t *testing.T) {
	const trees = 1_000_000
	rng := rand.New(rand.NewPCG(15, 3))
	var nodes [12]node
	for range trees {
		if why := wrong(randomTree(rng, nodes[:]), rights.Effective); why != "" {
			t.Fatal(why)
		}
	}
	t.Logf("%d trees", trees)
}

// TestTreesFindFaults: the check finds each fault that the function could have.
func TestTreesFindFaults(t *testing.T) {
	for name, f := range map[string]effective{
		"a union": func(own rights.Set, delegable []rights.Set, requested, ceiling rights.Set) rights.Set {
			s := rights.Effective(own, delegable, requested, ceiling)
			for _, d := range delegable {
				s |= d & requested
			}
			return s
		},
		"the request alone": func(_ rights.Set, delegable []rights.Set, requested, ceiling rights.Set) rights.Set {
			return rights.Effective(rights.All, delegable, requested, ceiling)
		},
		"no request": func(own rights.Set, delegable []rights.Set, _, ceiling rights.Set) rights.Set {
			return rights.Effective(own, delegable, rights.All, ceiling)
		},
		"no ceiling": func(own rights.Set, delegable []rights.Set, requested, _ rights.Set) rights.Set {
			return rights.Effective(own, delegable, requested, rights.All)
		},
		"the nearest caller only": func(own rights.Set, delegable []rights.Set, requested, ceiling rights.Set) rights.Set {
			return rights.Effective(own, delegable[:1], requested, ceiling)
		},
		"the root only": func(own rights.Set, delegable []rights.Set, requested, ceiling rights.Set) rights.Set {
			return rights.Effective(own, delegable[len(delegable)-1:], requested, ceiling)
		},
		"nothing": func(rights.Set, []rights.Set, rights.Set, rights.Set) rights.Set { return rights.None },
	} {
		rng := rand.New(rand.NewPCG(15, 3))
		found := false
		for range 1000 {
			found = found || wrong(randomTree(rng, make([]node, 12)), f) != ""
		}
		if !found {
			t.Errorf("a function with %s passes", name)
		}
	}
}
