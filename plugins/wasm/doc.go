// Package wasm reads, checks and rewrites WebAssembly modules that nobody has
// to trust, before any engine sees them.
//
// [Meter] is what hosts need. It refuses what is malformed, what exceeds
// [Limits] and what the sandbox does not run, and returns the module rewritten
// so that it counts the instructions it executes (fuel) and the calls it is in
// (depth), traps when either runs out, gives the same bits for every NaN, and
// exports its mutable globals so that a host can put them back.
//
// # What makes the rewriting safe
//
// The rewritten module is still validated by the engine, so types need no
// check here, but for what becomes an export (the start function) or is read
// carelessly (the names). What does need one are indices: the rewriter appends globals and
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
// instruction whose cost depends on an operand (memory.fill and its kind). A
// small function without loops and calls has no look of its own: whoever calls
// it has, at every thousandth call at the latest. The
// number is thus the same on every engine and machine, also when the module
// traps. A look finds more than enough mostly; where it does not, the module
// calls a function of ours, which traps when nothing is left, and else lets
// the host decide whether to go on: see [Budget].
//
// # What is not bounded
//
// Time, because that is not the same everywhere. Fuel comes near to it: what is
// slow is dear, so that no instruction costs much less than it takes, but for
// loads that miss the cache. And nothing is bounded of what an engine does to
// compile a module beyond what follows from [Limits]; the compiler of wazero
// takes half a minute for some modules of 240 kB.
package wasm
