// Package history turns transcripts into decision points.
//
// A [Transcript] is either the log of a room or a [Conversation] of another
// program. [Open] reads who took part and returns a [History]. [History.Walk]
// folds its events, in order, and visits each decision point: the [Point] has
// the state of the room before the decision and the decision that was made.
//
// A room of moot has its decision points where its policy decided. A
// conversation has one before every merged turn but the first.
//
// A history keeps no list that grows with the transcript: each walk reads the
// events again. It is used by one goroutine at a time.
package history
