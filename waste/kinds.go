package waste

// A Kind is a kind of waste.
type Kind string

// The kinds of waste.
const (
	AfterError      Kind = "after_error"      // after the turn that the source labels as the decisive error
	Loop            Kind = "loops"            // a sequence of up to four turns that occurs for the third time in a row
	ExactDuplicate  Kind = "exact_duplicates" // the same words as an earlier turn
	NearDuplicate   Kind = "near_duplicates"  // four fifths of its shingles are those of an earlier turn
	Acknowledgement Kind = "acknowledgements" // a few words that say nothing
	ResentContext   Kind = "resent_context"   // the part of a prompt that its reader was sent before
)

// Kinds returns the kinds in the order in which a turn is assigned to one. The last
// one, ResentContext, is the only one that is a part of prompts, not a set of turns.
func Kinds() []Kind {
	return []Kind{AfterError, Loop, ExactDuplicate, NearDuplicate, Acknowledgement, ResentContext}
}

// place returns the index of k in Kinds.
func (k Kind) place() int {
	for i, other := range Kinds() {
		if other == k {
			return i
		}
	}
	return -1
}

// kindSet is a set of kinds, as bits by their place.
type kindSet uint8

func (s *kindSet) add(k Kind)     { *s |= 1 << k.place() }
func (s kindSet) has(k Kind) bool { return s&(1<<k.place()) != 0 }

// first returns the kind that a turn of these kinds counts as, or "".
func (s kindSet) first() Kind {
	for _, k := range Kinds() {
		if s.has(k) {
			return k
		}
	}
	return ""
}
