package wasm

import "fmt"

// A Kind says why a module is refused.
type Kind int

// Kinds of errors.
const (
	Malformed   Kind = iota // it is not a valid module
	Exceeds                 // it is beyond a limit
	Unsupported             // it uses what the sandbox does not run
)

// An Error says why a module is refused, and where.
type Error struct {
	Kind Kind
	What string // one phrase
	At   int    // byte of the module
	Func int    // the function it is in, in the index space of the module; -1: in none
}

// Error gives the place and the phrase.
func (e *Error) Error() string {
	if e.Func >= 0 {
		return fmt.Sprintf("function %d, byte %d: %s", e.Func, e.At, e.What)
	}
	return fmt.Sprintf("byte %d: %s", e.At, e.What)
}
