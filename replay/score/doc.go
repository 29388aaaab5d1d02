// Package score turns evaluations of policies into figures.
//
// A [Batch] is one replay. It has a [Run] for each transcript, and a run has a
// [Tally] for each policy and one for the recorded decisions. Tallies are sums,
// so that every figure of many transcripts, or of a bootstrap resample of them,
// is a figure of a sum. [Batch.Result] makes the figures of a policy,
// [Batch.Comparisons] says which differences may be chance.
//
// Different runs may be filled by different goroutines. Figures do not depend
// on their order.
//
// Agreement is not quality: the recorded choice is what happened, not what was
// best.
package score
