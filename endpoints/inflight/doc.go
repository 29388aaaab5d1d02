// Package inflight holds the parts that endpoints with a protocol share: the one
// request in flight, the outcome of recent requests, and the queue of signals to
// the room.
//
// An endpoint has one request in flight at a time. A [Table] pairs each
// response with its request. It tells a response to an abandoned request from
// a second response and from one to an unknown request: endpoints report the
// first as late and the others as violations. A [Queue] delivers signals in
// order from a goroutine of its own, so reading a connection never waits for
// the room.
package inflight
