// Package worker runs work on data of a stranger in a worker process, within
// limits of processor time, memory and disk. The work may be code that this
// program did not write and cannot interrupt: a compiler, a JSON Schema.
//
// The worker process is this same program. [Serve], called from the initializer
// of a package-level variable, does one piece of work before main begins, and
// ends the process. So it works in every program that links the package, tests
// and embedding programs included, without a setup call:
//
//	var _ = worker.Serve("settings", func(in io.Reader, out io.Writer) error { ... })
//	...
//	reply, err := worker.Run(ctx, worker.Work{Name: "settings", Request: b, Limits: ...})
//
// Without the environment variable that [Run] sets, Serve does nothing.
package worker
