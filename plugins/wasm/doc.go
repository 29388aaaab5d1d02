// Package wasm reads, validates and meters untrusted WebAssembly modules, before
// an engine reads them.
//
// [Meter] rejects modules that are malformed, that exceed [Limits], or that use
// instructions which the sandbox does not run. It rewrites the others: the new
// module counts the instructions that it executes (fuel) and its nested calls
// (depth), traps when either runs out, gives the same bits for every NaN, and
// exports its mutable globals so that a host can restore them.
//
// # Why the rewriting is safe
//
// The engine validates the rewritten module. So this package checks no types,
// except those of the start function, which becomes an export. It drops custom
// sections: engines read names with little care. It does check indices: the
// rewriter appends globals and locals. An invalid module that names the global
// after its last one would otherwise become valid, and could change its own
// fuel. So every index is checked against the counts of the original module. The
// added code leaves the operand stack as it was and encloses no code of the
// module, so no branch changes its target.
//
// # Where fuel is charged
//
// A body is cut into segments that are entered only at their start. The cost of
// a segment is charged at its start. The fuel that is left is checked on entry
// to a function, at the head of each loop, and before an instruction whose cost
// depends on an operand, such as memory.fill. A small function without loops and
// calls has no check of its own; its callers check at least at each thousandth
// call. So the fuel used is the same on every engine and machine, also when the
// module traps. When a check finds less fuel than the host set, the module calls
// an added function. It traps when the fuel is used up, and otherwise lets the
// host decide whether to go on: see [Budget].
//
// # What has no limit
//
// Time has none, because it differs between machines. Fuel approximates it: slow
// instructions cost more, so that none takes much longer than it costs, except
// loads that miss the processor's cache. The work of an engine that compiles a
// module has no limit either, beyond what follows from [Limits]; wazero's
// compiler takes half a minute for some modules of 240 kB.
package wasm
