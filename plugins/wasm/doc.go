// Package wasm reads, checks and rewrites WebAssembly modules that nobody has
// to trust, before any engine sees them.
//
// [Meter] is the whole of it. It refuses what is malformed, what exceeds
// [Limits] and what the sandbox does not run, and returns the module rewritten
// so that it counts the instructions it executes (fuel) and the calls it is in
// (depth), traps when either runs out, gives the same bits for every NaN, and
// exports its mutable globals so that a host can put them back.
//
// # What makes the rewriting safe
//
// The rewritten module is still validated by the engine, so types need no
// check here. What does need one are indices: the rewriter appends globals and
// locals of its own, and a module that is invalid because it names the global
// behind its last one would become valid, with the fuel in its hands. So every
// index is checked against the counts of the original module. The code that
// is put in leaves the operand stack as it found it and encloses no code of
// the module, so it changes the meaning of no branch.
//
// # Where fuel is charged
//
// A body is cut into segments that are entered only at their start. The cost
// of a segment is taken from the fuel at its start; whether any is left is
// looked at on entering a function, at the head of every loop, and before an
// instruction whose cost depends on an operand (memory.fill and its kind). The
// number is thus the same on every engine and machine, also when the module
// traps.
package wasm
