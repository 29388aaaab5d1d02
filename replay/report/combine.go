package report

import (
	"slices"

	"github.com/folkmoot/moot/replay/score"
)

// Combine returns a report with the policies of two, side by side, and their
// differences. Other parts are those of a. The agreement of policies that were
// never replayed together is NaN.
func Combine(a, b *Report) *Report {
	both := *a
	both.Changes = Diff(a, b)
	both.Notes = append([]string{"two reports: what is shown once is from the first"}, a.Notes...)
	both.Policies, both.Comparisons, both.Confusion, both.Kinds = nil, nil, nil, nil
	both.addRenamed(a, " · first")
	both.addRenamed(b, " · second")
	both.Agreement = combineMatrices(a.Agreement, b.Agreement)
	both.Airtime = combineAirtime(a, b)
	both.Curve.Tokens = slices.Concat(a.Curve.Tokens, b.Curve.Tokens[min(1, len(b.Curve.Tokens)):])
	both.Strips = combineStrips(a, b)
	both.Gates = slices.Concat(a.Gates, b.Gates)
	both.combineCases(a, b)
	return &both
}

// addRenamed adds the policies of other and their comparisons. The names get a
// suffix, because both reports may have the same.
func (r *Report) addRenamed(other *Report, suffix string) {
	for _, p := range other.Policies {
		p.Policy += suffix
		r.Policies = append(r.Policies, p)
	}
	for _, c := range other.Comparisons {
		c.B += suffix
		if c.A != score.RecordedName {
			c.A += suffix
		}
		r.Comparisons = append(r.Comparisons, c)
	}
	for _, c := range other.Confusion {
		c.Policy += suffix
		r.Confusion = append(r.Confusion, c)
	}
	for _, k := range other.Kinds {
		k.Wrong += suffix
		if k.Right != "" {
			k.Right += suffix
		}
		r.Kinds = append(r.Kinds, k)
	}
}

// combineCases joins the decisions to read. Those of b have no choices of the
// policies of a.
func (r *Report) combineCases(a, b *Report) {
	r.Cases = slices.Clone(a.Cases)
	for _, c := range b.Cases {
		c.Choices = append(make([]score.CaseChoice, len(a.Policies)), c.Choices...)
		c.Kinds = slices.Clone(c.Kinds)
		for i := range c.Kinds {
			c.Kinds[i] += len(a.Kinds)
		}
		r.Cases = append(r.Cases, c)
	}
}

// combineMatrices joins two matrices, each with the recorded decisions first.
func combineMatrices(a, b [][]score.Figure) [][]score.Figure {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	n := len(a) + len(b) - 1
	out := make([][]score.Figure, n)
	for i := range out {
		out[i] = make([]score.Figure, n)
		for j := range out[i] {
			switch out[i][j] = score.None(); {
			case i < len(a) && j < len(a):
				out[i][j] = cellAt(a, i, j)
			case (i == 0 || i >= len(a)) && (j == 0 || j >= len(a)):
				out[i][j] = cellAt(b, max(0, i-len(a)+1), max(0, j-len(a)+1))
			}
		}
	}
	return out
}

// cellAt is NaN outside of m: a report that was read may have short rows.
func cellAt(m [][]score.Figure, i, j int) score.Figure {
	if i < len(m) && j < len(m[i]) {
		return m[i][j]
	}
	return score.None()
}

// combineAirtime joins the airtime of each participant.
func combineAirtime(a, b *Report) []score.Airtime {
	first, second := len(a.Policies)+1, len(b.Policies)
	var all []score.Airtime
	for _, x := range a.Airtime {
		all = append(all, score.Airtime{Participant: x.Participant, Chosen: resize(x.Chosen, first+second)})
	}
	for _, x := range b.Airtime {
		at := slices.IndexFunc(all, func(y score.Airtime) bool { return y.Participant == x.Participant })
		if at < 0 {
			at = len(all)
			all = append(all, score.Airtime{Participant: x.Participant, Chosen: make([]int, first+second)})
		}
		copy(all[at].Chosen[first:], resize(x.Chosen, 1+second)[1:])
	}
	return all
}

// resize returns a copy of n with exactly size entries.
func resize(n []int, size int) []int {
	out := make([]int, size)
	copy(out, n)
	return out
}

// combineStrips joins the rows of the same transcripts.
func combineStrips(a, b *Report) []score.Strip {
	var all []score.Strip
	for _, s := range a.Strips {
		s.Rows = slices.Clone(s.Rows)
		for len(s.Rows) < len(a.Policies)+1 {
			s.Rows = append(s.Rows, score.Row{})
		}
		s.Rows = s.Rows[:len(a.Policies)+1]
		for _, other := range b.Strips {
			if other.Transcript == s.Transcript && slices.Equal(other.Participants, s.Participants) && len(other.Rows) > 0 {
				offset := len(s.Reasons)
				s.Reasons = slices.Concat(s.Reasons, other.Reasons)
				for _, row := range other.Rows[1:] {
					s.Rows = append(s.Rows, shiftReasons(row, offset))
				}
				break
			}
		}
		all = append(all, s)
	}
	return all
}

// shiftReasons adds offset to the reason indexes of row.
func shiftReasons(row score.Row, offset int) score.Row {
	why := slices.Clone(row.Why)
	for i := range why {
		if why[i] >= 0 {
			why[i] += int16(offset)
		}
	}
	return score.Row{Said: row.Said, Why: why}
}
