package training

import "github.com/folkmoot/moot/policies/adaptive"

// Folds measures what learning from a team's talks is worth: the talks are
// dealt out into n parts, and each is foreseen after learning from the others.
// prior is what is known of other talk; nil for what the policy has.
func Folds(prior *adaptive.Prior, talks []*Talk, n int, progress func(part float64)) *Score {
	total := &Score{}
	for fold := range min(n, len(talks)) {
		var onlineWeights, asked []*Talk
		for i, t := range talks {
			if i%n == fold {
				asked = append(asked, t)
			} else {
				onlineWeights = append(onlineWeights, t)
			}
		}
		total.Add(Measure(adaptive.NewWith(prior, Learn(onlineWeights, nil)), asked))
		if progress != nil {
			progress(float64(fold+1) / float64(n))
		}
	}
	return total
}
