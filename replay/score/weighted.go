package score

import "math"

// A weighted is one cluster of a weighted mean: the sums over a transcript.
type weighted struct {
	n      float64 // values
	weight float64
	square float64 // of the weights
	mean   float64 // of what the squares were expected to be
	value  float64 // of the weighted values
}

// add adds a weight whose square was expected to be mean.
func (w *weighted) add(weight, mean float64) {
	w.n++
	w.weight += weight
	w.square += weight * weight
	w.mean += mean
}

// equally is n values v of equal weight.
func equally(n int, v float64) weighted {
	return weighted{n: float64(n), weight: float64(n), square: float64(n), mean: float64(n), value: float64(n) * v}
}

// weightedMean is the self-normalized estimate of a mean from clusters: the weighted
// values divided by the weights (Hajek 1971; Swaminathan and Joachims 2015).
func weightedMean(clusters []weighted) float64 {
	var all weighted
	for _, c := range clusters {
		all.weight += c.weight
		all.value += c.value
	}
	return all.value / all.weight
}

// of returns the cluster with v as the value of all its weights.
func (w weighted) of(v float64) weighted {
	w.value = w.weight * v
	return w
}

// effectiveSize is how many equally weighted values would tell as much (Kish 1965). It is
// the smaller one of two: by the weights, and by what their squares were expected to be.
func effectiveSize(clusters []weighted) float64 {
	var n, sum, squares, mean float64
	for _, c := range clusters {
		n += c.n
		sum += c.weight
		squares += c.square
		mean += c.mean
	}
	if sum == 0 {
		return 0
	}
	return min(sum*sum/squares, n*n/mean)
}

// weightedInterval is the 95 % interval of the weighted mean m of clusters, which are
// independent. Its variance is that of the jackknife over the clusters or, if larger, the
// one that weights of the expected squares give to values with the variance spread. Its quantile is that of Student's t with as many degrees of freedom as the
// weights of the clusters are worth; fewer than [minEffective] have no interval. share
// says that all values are 0 or 1. Then it is the score interval of Wilson (1927) for the
// effective number of values, which has a width when all are equal.
func weightedInterval(clusters []weighted, m, spread float64, share bool) [2]Figure {
	var n, sum, squares, mean, values float64
	for _, c := range clusters {
		n += c.n
		sum += c.weight
		squares += c.weight * c.weight
		mean += c.n*c.n + c.mean - c.n // of the square of the sum: weights of a cluster do not correlate
		values += c.value
	}
	worth := sum * sum / squares
	if !(worth >= minEffective) {
		return [2]Figure{None(), None()}
	}
	variance := 0.0
	for _, c := range clusters {
		if rest := sum - c.weight; rest > 0 {
			d := (values-c.value)/rest - m
			variance += d * d
		}
	}
	k := float64(len(clusters))
	variance = max(variance*(k-1)/k, spread*mean/(n*n))
	t := studentQuantile(worth - 1)
	if share {
		if of := m * (1 - m); of < worth*variance {
			worth = max(of/variance, 1)
		}
		return wilson(m, t, worth)
	}
	half := t * math.Sqrt(variance)
	return [2]Figure{Figure(m - half), Figure(m + half)}
}

// variance is that of the values of clusters with equal weights.
func variance(clusters []weighted) float64 {
	n, mean, sum := float64(len(clusters)), 0.0, 0.0
	for _, c := range clusters {
		mean += c.value / c.weight / n
	}
	for _, c := range clusters {
		d := c.value/c.weight - mean
		sum += d * d
	}
	return sum / max(n-1, 1)
}

// wilson is the score interval of a share m of n values.
func wilson(m, t, n float64) [2]Figure {
	scale := 1 + t*t/n
	middle := (m + t*t/(2*n)) / scale
	half := t / scale * math.Sqrt(m*(1-m)/n+t*t/(4*n*n))
	return [2]Figure{Figure(middle - half), Figure(middle + half)}
}

// studentQuantile is the 97.5 % quantile of Student's t by the expansion of Fisher and
// Cornish (Abramowitz and Stegun, 26.7.5). It is exact to 0.1 % from 4 degrees of freedom.
func studentQuantile(degrees float64) float64 {
	const z = 1.959963984540054
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	g1 := (z3 + z) / 4
	g2 := (5*z5 + 16*z3 + 3*z) / 96
	g3 := (3*z7 + 19*z5 + 17*z3 - 15*z) / 384
	return z + g1/degrees + g2/(degrees*degrees) + g3/(degrees*degrees*degrees)
}
