//go:build !wasip1

package policy

// Serve registers the policies of a module. On the host it only returns the
// [Module], for tests.
func Serve(all ...Named) *Module { return NewModule(all...) }

// Log appends text to the audit record of the current decision. On the host it
// does nothing.
func Log(Level, string) {}
