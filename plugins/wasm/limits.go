package wasm

import "fmt"

// Limits bound the structure of a module. An engine allocates memory in
// proportion to the declared counts and not to the size of the module: one of 56
// bytes can declare four billion locals.
type Limits struct {
	Bytes       int // of the whole module
	Types       int
	Params      int // of one function, and its results as well
	Imports     int
	Funcs       int // of the module itself
	Body        int // bytes of one function
	Locals      int // of one function
	TotalLocals int // of all functions
	BrTable     int // entries of one br_table
	Nesting     int // of blocks
	Tables      int
	Table       int // elements of one table
	Memories    int
	Pages       int // of 64 KiB, initial size of a memory
	Globals     int
	Exports     int
	Elems       int // segments; all their elements together are limited by Table
	Datas       int // segments
	Name        int // bytes of a name
}

// Default has the limits of a policy.
var Default = Limits{
	Bytes: 8 << 20, Types: 10_000, Params: 128, Imports: 100, Funcs: 100_000, Body: 1 << 20,
	Locals: 50_000, TotalLocals: 4_000_000, BrTable: 4096, Nesting: 1000, Tables: 1, Table: 100_000,
	Memories: 1, Pages: 1024, Globals: 10_000, Exports: 10_000, Elems: 10_000, Datas: 100_000, Name: 1024,
}

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
