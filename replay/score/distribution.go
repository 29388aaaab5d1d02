package score

import (
	"math"
	"slices"
)

// gini is the Gini coefficient of n: 0 when all are equal, near 1 when one has
// everything.
func gini(n []int) float64 {
	n = slices.Clone(n)
	slices.Sort(n)
	var total, weighted float64
	for i, x := range n {
		total += float64(x)
		weighted += float64(2*(i+1)-len(n)-1) * float64(x)
	}
	if total == 0 {
		return 0
	}
	return weighted / (float64(len(n)) * total)
}

// entropy is the Shannon entropy of the shares of n, divided by its maximum: 1
// when all are equal, 0 when one has everything.
func entropy(n []int) float64 {
	var total, sum float64
	for _, x := range n {
		total += float64(x)
	}
	for _, x := range n {
		if p := float64(x) / total; p > 0 {
			sum -= p * math.Log(p)
		}
	}
	if len(n) < 2 || total == 0 {
		return 0
	}
	return sum / math.Log(float64(len(n)))
}
