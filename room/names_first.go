package room

import (
	"cmp"
	"slices"
)

// First returns who is named in text in the order in which they were first
// named, where [Names.Scan] has the order in which they were last named, and
// who is named at the very start, "" for nobody.
func (n *Names) First(text, speaker string) (named []string, lead string) {
	self, ok := n.index[speaker]
	if !ok {
		self = shared
	}
	s := scan{names: n, self: self, lead: shared}
	s.tokens(text)
	s.phrases(text)
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.early, b.early))
	})
	for _, h := range s.hits {
		named = append(named, n.ids[h.who])
	}
	if s.lead != shared {
		lead = n.ids[s.lead]
	}
	return named, lead
}
