//go:build !wasip1

package policy

// Serve makes all the policies of this module. On the host it only returns
// the [Module], which tests may call.
func Serve(all ...Named) *Module { return NewModule(all...) }

// Log keeps text in the record of the decision that is being made. On the
// host it does nothing.
func Log(Level, string) {}
