package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/folkmoot/moot/room"
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

// flaws are mistakes that tests put into a simulation to see that it finds them.
type flaws struct {
	ackEarly     bool // what is written counts as durable
	syncAgain    bool // a failed sync is tried again
	loseLast     bool // recovery loses the last event
	appendTwice  bool // a repeated append is written again
	openGate     bool // a pause does not close the gate
	sendTwice    bool // a prompt leaves twice
	noRecord     bool // a device works again on a repeated request
	readEarly    bool // spectators read what is only written
	showAll      bool // spectators of every level see all
	skipOne      bool // a spectator that reconnects misses an event
	newID        bool // a client repeats a command under a new id
	overBudget   bool // a turn is granted beyond a budget
	dropReserved bool // a restart drops all reservations of budgets
	tornBatch    bool // recovery keeps a part of a batch
	noModel      bool // no reference model runs next to the rooms
	wallClock    bool // the clock of rooms follows the wall clock

	mutate func(room.Command, []room.Event) []room.Event // alters decisions
}
