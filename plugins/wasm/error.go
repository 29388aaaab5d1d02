package wasm

import "fmt"

// A Kind is the class of an [Error].
type Kind int

// Kinds of errors.
const (
	Malformed   Kind = iota // it is not a valid module
	Exceeds                 // it is beyond a limit
	Unsupported             // it uses instructions that the sandbox does not run
)

// An Error says why a module is rejected, and where.
type Error struct {
	Kind Kind
	What string // one phrase
	At   int    // byte of the module
	Func int    // index of the function that it is in; -1: in none
}

// Error returns the place and the phrase.
func (e *Error) Error() string {
	if e.Func >= 0 {
		return fmt.Sprintf("function %d, byte %d: %s", e.Func, e.At, e.What)
	}
	return fmt.Sprintf("byte %d: %s", e.At, e.What)
}
