package score

import (
	"cmp"
	"slices"
	"strings"

	"github.com/folkmoot/moot/replay/history"
)

// maxListed is how many reasons a result lists.
const maxListed = 12

// sumReasons adds up the reasons of a policy. IDs of participants are left out, so
// that "ann addressed bob" and "bob addressed ann" are one reason.
func sumReasons(runs []*Run, policy int) []Reason {
	counts := map[string]int{}
	for _, r := range runs {
		reasons := r.tally(policy).reasons
		if len(reasons) == 0 {
			continue
		}
		a := newAnonymizer(r.History)
		for reason, n := range reasons {
			counts[a.replace(reason)] += n
		}
	}
	all := []Reason{}
	for reason, n := range counts {
		all = append(all, Reason{reason, n})
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	for len(all) > maxListed {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		all[maxListed-1] = Reason{otherReasons, all[maxListed-1].Count + last.Count}
	}
	return all
}

// An anonymizer replaces the IDs of participants by an ellipsis. The longest
// match wins.
type anonymizer struct {
	ids   []string // the longest first
	first [256]bool
}

func newAnonymizer(h *history.History) *anonymizer {
	a := &anonymizer{}
	for _, s := range h.Seats {
		if len(s.ID) > 1 {
			a.ids = append(a.ids, s.ID)
			a.first[s.ID[0]] = true
		}
	}
	slices.SortFunc(a.ids, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return a
}

func (a *anonymizer) replace(s string) string {
	var b []byte
	for i := 0; i < len(s); {
		at := -1
		if a.first[s[i]] {
			at = slices.IndexFunc(a.ids, func(id string) bool { return strings.HasPrefix(s[i:], id) })
		}
		if at < 0 {
			b = append(b, s[i])
			i++
			continue
		}
		b = append(b, "…"...)
		i += len(a.ids[at])
	}
	return string(b)
}
