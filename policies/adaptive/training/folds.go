package training

import "github.com/folkmoot/moot/policies/adaptive"

// Folds measures training on the talks of a team by n-fold cross-validation: it
// predicts each part of the talks after training on the other parts. progress, if
// not nil, gets the finished part, from 0 to 1.
func Folds(talks []*Talk, n int, progress func(part float64)) *Score {
	total := &Score{}
	for fold := range min(n, len(talks)) {
		learned, asked := split(talks, n, fold)
		total.Add(Measure(adaptive.NewWith(Learn(learned)), asked))
		if progress != nil {
			progress(float64(fold+1) / float64(n))
		}
	}
	return total
}

// split returns the talks of a fold, and those of the others to learn from.
func split(talks []*Talk, n, fold int) (learned, asked []*Talk) {
	for i, t := range talks {
		if i%n == fold {
			asked = append(asked, t)
		} else {
			learned = append(learned, t)
		}
	}
	return learned, asked
}

// Dealt returns the talks in the order in which [Folds] measures them.
func Dealt(talks []*Talk, n int) (all []*Talk) {
	for fold := range min(n, len(talks)) {
		_, asked := split(talks, n, fold)
		all = append(all, asked...)
	}
	return all
}
