// Package plugins makes the decisions of policies that nobody has to trust. A
// policy is a WebAssembly module of ABI 1; the package checks and rewrites it,
// runs it in wazero, and turns its answer into a [policy.Decision] and the
// [policy.Record] of how it came about.
//
//	host, err := plugins.NewHost(plugins.Config{CacheDir: dir})
//	...
//	defer host.Close()
//	p, err := host.Load(ctx, plugins.Module{Name: "polite", Wasm: wasm, Digest: approved})
//	...
//	decision, record, err := p.Propose(ctx, input)
//
// # What a module can do
//
// Think, for a while, and answer. It has one memory of its own and the functions of
// WASI that the Go and C libraries link in, all of them inert: what it prints is
// kept in the record, its clock is the input's, its random numbers follow from
// the input's seed, sleeping moves its clock, and there are no files, arguments
// or environment. So the same module with the same settings and the same input
// gives the same bytes and uses the same fuel, on every machine, on both
// engines, any number of times.
//
// # What happens to a module
//
//  1. [Host.Load] compares its digest with the approved one.
//  2. [wasm.Meter] refuses what is malformed, too large, or not of this ABI, and
//     rewrites the rest so that it counts fuel and depth.
//  3. Its start function and _initialize run once, on the interpreter, and its
//     memory and globals become the initial image.
//  4. What a decision runs is compiled into the on-disk cache. For a module
//     that is not built in, a child process does this and step 3, within limits
//     of time and memory; this process compiles no stranger's code. The child
//     is this program, started again with an environment variable set: see
//     child.go. Nothing has to be called for it, in tests and in programs that
//     embed this package neither.
//  5. An instance that starts from the initial image is configured with the
//     policy's settings, and frozen: the image of all its decisions.
//
// # What happens for a decision
//
// It waits for its turn: as many run at once as there are processors, and free
// places go round the rooms. Then it gets an instance that is as new: one that
// ran before is put back to the image, memory, size of memory, globals, clock,
// random numbers and log; on Linux only the pages that were written to are
// copied. A module that has more than that to put back (tables that it
// changes, passive segments, globals of vectors or references) is set up anew
// each time. One decision in a thousand is made again in an instance that never
// ran, and when anything differs, fuel included, the policy is refused from
// then on.
//
// Fuel bounds it. After every 500,000 units the module asks whether it may go on; other
// goroutines run then, a caller that has gone ends it, and so does a stranger's
// 100 ms of the processor, which only a module reaches that spends its fuel on
// missing the cache.
//
// # Failure
//
// Everything that fails closes: there is no answer that picks somebody. Errors
// are [*Error] with a code for scripts, a sentence, a place and what to do.
// Codes of load refuse a policy; codes of run end one decision, with the input
// saved where [Config].FailDir says. An instance that failed is never used
// again. Errors of a context come back as they are.
package plugins
