package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Faults is a set of kinds of faults that a simulation injects.
type Faults uint16

// Kinds of faults.
const (
	Crash   Faults = 1 << iota // the process or the machine ends
	Disk                       // writes and syncs fail, are slow, or have an unknown result
	Clock                      // the wall clock jumps
	Agents                     // agents are late, silent, break the protocol or end
	Relay                      // the network to other devices loses, repeats, delays and reorders
	Hostile                    // agents act outside their rights and turns
	Retry                      // answers to callers get lost, and they repeat their requests
	Rush                       // people act at once
	Readers                    // spectators lose their connection

	AllFaults = 1<<iota - 1
)

// faultNames are the names of the kinds in the order of the bits.
var faultNames = []string{"crash", "disk", "clock", "agents", "relay", "hostile", "retry", "rush", "readers"}

// FaultNames returns the names that [ParseFaults] takes, besides all and none.
func FaultNames() []string { return slices.Clone(faultNames) }

// ParseFaults reads a list of names, separated by commas. "all" and "none" are lists too.
func ParseFaults(list string) (Faults, error) {
	switch list {
	case "all", "":
		return AllFaults, nil
	case "none":
		return 0, nil
	}
	var f Faults
	for _, name := range strings.Split(list, ",") {
		i := slices.Index(faultNames, strings.TrimSpace(name))
		if i < 0 {
			return 0, fmt.Errorf("unknown kind of fault %.20q", name)
		}
		f |= 1 << i
	}
	return f, nil
}

// String returns the list that [ParseFaults] reads.
func (f Faults) String() string {
	switch f {
	case AllFaults:
		return "all"
	case 0:
		return "none"
	}
	var names []string
	for i, name := range faultNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// fault reports whether a fault of a kind happens now, with a probability of p percent,
// and counts it.
func (s *simulation) fault(kind Faults, p int) bool {
	if s.cfg.Faults&kind == 0 || !s.src.percent(p) {
		return false
	}
	s.result.Faults++
	return true
}
