// Package plugins runs policies in a sandbox. A policy is a third-party or
// built-in WebAssembly module of ABI 1. The package validates and meters it, runs
// it in wazero, and turns its answer into a [policy.Decision] and a
// [policy.Record] for the audit.
//
//	host, err := plugins.NewHost(plugins.Config{CacheDir: dir})
//	...
//	defer host.Close()
//	p, err := host.Load(ctx, plugins.Module{Name: "polite", Wasm: wasm, Digest: approved})
//	...
//	decision, record, err := p.Propose(ctx, input)
//
// # Model
//
// A module has one memory and the functions of WASI that the libraries of Go and
// C link in. None of them has an effect outside the sandbox: output goes to the
// record, the clock is the input's, random numbers follow from the input's seed,
// a sleep advances the clock, and there are no files, arguments or environment
// variables. So the same module, settings and input give the same bytes and use
// the same fuel on every machine and on both engines.
//
// # Loading
//
//  1. [Host.Load] compares the module's digest with the approved one.
//  2. Package wasm rejects modules that are malformed, too large, or of another
//     ABI, and adds counters of fuel and call depth to the others.
//  3. The start function and _initialize run once, on the interpreter. Memory
//     and globals after that are the initial snapshot.
//  4. The module is compiled into the compile cache. A child process does steps 3
//     and 4 for third-party modules, within limits of time and memory. The child
//     is this program, started with an environment variable; no setup call is
//     needed, in tests or in embedding programs. A tiered host runs built-in
//     modules on the interpreter first and compiles them in the background.
//  5. An instance takes the policy's settings. Its memory and globals after that
//     are the configured snapshot.
//
// # Decisions
//
// A queue admits as many decisions at once as there are processors, and shares
// them among rooms by processor time. Each decision gets an instance that equals the configured snapshot: a
// new one, or one from the pool whose memory, globals, clock, random numbers and
// log were restored. On Linux only the pages that a decision wrote to are copied.
// A module with other mutable state, such as tables that it changes, is set up
// again for each decision. One decision in a thousand is repeated in a new
// instance. If anything differs, fuel included, the policy is refused from then
// on.
//
// Fuel limits a decision. After each quantum of 100,000 units the module calls
// the host, which lets other goroutines run once a millisecond. The host ends a
// decision whose caller is gone, and a third-party one after 100 ms of processor
// time, unless [Module].FuelOnly.
//
// # Failure
//
// No failure picks a speaker. Errors are [*Error]: a stable code, a sentence, a
// place and a fix. Codes of load refuse a policy. Codes of run end one decision,
// and its input is saved in [Config].FailDir. An instance that failed is not used
// again. Errors of a context are returned as they are.
package plugins
