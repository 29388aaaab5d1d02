// Package pool keeps instances of policies and makes decisions in them.
//
// A [Module] is validated and compiled. [Configure] starts one instance from
// the module's initial snapshot, hands it the policy's settings, and takes the
// configured snapshot. [Pool.Run] makes one decision in an instance that
// equals that snapshot: one from the pool, or a new one. Afterwards the pool
// restores the instance to the snapshot, for the next decision.
//
// A snapshot is everything mutable in an instance: its memory and its mutable
// globals. A module with more mutable state is set up again for each decision.
// [Configured.RunNew] makes a decision in an instance that never ran, to
// compare the two.
package pool
