package replay

import (
	"math"
	"slices"
)

// Both returns the page of two reports: the policies of both, side by side.
// What they differ in stands first. Of pairs that were never asked together the
// agreement is not known.
func Both(a, b *Report) *Report {
	both := *a
	both.Changes = Diff(a, b)
	both.Notes = append([]string{"two reports: what is not told apart is of the first"}, a.Notes...)
	both.Policies = append(named(a, firstReport), named(b, secondReport)...)
	both.Comparisons = append(renamed(a, firstReport), renamed(b, secondReport)...)
	both.Agreement = sideBySide(a.Agreement, b.Agreement)
	both.Airtime = together(a, b)
	both.Curve.Tokens = slices.Concat(a.Curve.Tokens, b.Curve.Tokens[min(1, len(b.Curve.Tokens)):])
	both.Strips = paired(a, b)
	both.Gates = slices.Concat(a.Gates, b.Gates)
	return &both
}

// What is put behind the names of policies, because both reports may have the
// same.
const (
	firstReport  = " · first"
	secondReport = " · second"
)

func named(r *Report, behind string) []Result {
	all := slices.Clone(r.Policies)
	for i := range all {
		all[i].Policy += behind
	}
	return all
}

func renamed(r *Report, behind string) []Comparison {
	all := slices.Clone(r.Comparisons)
	for i := range all {
		all[i].B += behind
		if all[i].A != recordedName {
			all[i].A += behind
		}
	}
	return all
}

// sideBySide puts two matrices, each with the recorded first, into one.
func sideBySide(a, b [][]Figure) [][]Figure {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	n := len(a) + len(b) - 1
	out := make([][]Figure, n)
	for i := range out {
		out[i] = make([]Figure, n)
		for j := range out[i] {
			switch out[i][j] = Figure(math.NaN()); {
			case i < len(a) && j < len(a):
				out[i][j] = cellOf(a, i, j)
			case (i == 0 || i >= len(a)) && (j == 0 || j >= len(a)):
				out[i][j] = cellOf(b, max(0, i-len(a)+1), max(0, j-len(a)+1))
			}
		}
	}
	return out
}

func cellOf(m [][]Figure, i, j int) Figure {
	if i < len(m) && j < len(m[i]) {
		return m[i][j]
	}
	return Figure(math.NaN())
}

// together adds up airtime by participant.
func together(a, b *Report) []Airtime {
	first, second := len(a.Policies)+1, len(b.Policies)
	var all []Airtime
	by := map[string]int{}
	for _, x := range a.Airtime {
		by[x.Participant] = len(all)
		all = append(all, Airtime{x.Participant, sized(x.Chosen, first+second)})
	}
	for _, x := range b.Airtime {
		at, ok := by[x.Participant]
		if !ok {
			at = len(all)
			all = append(all, Airtime{x.Participant, make([]int, first+second)})
		}
		chosen := sized(x.Chosen, 1+second)
		copy(all[at].Chosen[first:], chosen[1:])
	}
	return all
}

// sized returns a copy of n with exactly so many entries.
func sized(n []int, size int) []int {
	out := make([]int, size)
	copy(out, n)
	return out
}

// paired puts the strips of the same transcripts into one picture.
func paired(a, b *Report) []Strip {
	var all []Strip
	for _, s := range a.Strips {
		s.Rows = slices.Clone(s.Rows)
		for len(s.Rows) < len(a.Policies)+1 {
			s.Rows = append(s.Rows, Row{})
		}
		s.Rows = s.Rows[:len(a.Policies)+1]
		for _, other := range b.Strips {
			if other.Transcript == s.Transcript && slices.Equal(other.Participants, s.Participants) && len(other.Rows) > 0 {
				s.Reasons = slices.Concat(s.Reasons, other.Reasons)
				for _, row := range other.Rows[1:] {
					s.Rows = append(s.Rows, row.moved(len(s.Reasons)-len(other.Reasons)))
				}
				break
			}
		}
		all = append(all, s)
	}
	return all
}

// moved is a row whose reasons stand by so many places later.
func (r Row) moved(by int) Row {
	why := slices.Clone(r.Why)
	for i := range why {
		if why[i] >= 0 {
			why[i] += int16(by)
		}
	}
	return Row{Said: r.Said, Why: why}
}
