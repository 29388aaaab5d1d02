package training

import "github.com/folkmoot/moot/policies/adaptive"

// Folds measures training on the talks of a team by n-fold cross-validation: it
// predicts each part of the talks after training on the other parts. A nil prior
// is the built-in one. progress, if not nil, gets the finished part, from 0 to 1.
func Folds(talks []*Talk, n int, progress func(part float64)) *Score {
	total := &Score{}
	for fold := range min(n, len(talks)) {
		var learned, asked []*Talk
		for i, t := range talks {
			if i%n == fold {
				asked = append(asked, t)
			} else {
				learned = append(learned, t)
			}
		}
		total.Add(Measure(adaptive.NewWith(Learn(learned, nil)), asked))
		if progress != nil {
			progress(float64(fold+1) / float64(n))
		}
	}
	return total
}
