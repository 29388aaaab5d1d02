// Package problem is the one shape of an error that a user sees: a stable
// code, what happened, where, and what to do about it.
package problem

import "strings"

// An Error tells a user what went wrong and how to mend it. Code is stable
// and upper-case, such as ROOM-MANUAL. Everything but Code and What may be
// empty.
type Error struct {
	Code  string // stable, for scripts and searches
	What  string // one sentence, without a full stop
	Where string // file:line:col, a room, a digest
	Fix   string // what to do, with the command to run
	Err   error  // the cause; not printed when What says it
	Kind  error  // a sentinel for errors.Is; never printed
}

// Error returns what happened with the code, on one line.
func (e *Error) Error() string {
	s := e.What
	if e.Err != nil && !strings.Contains(s, e.Err.Error()) {
		if s != "" {
			s += ": "
		}
		s += e.Err.Error()
	}
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	return s + " [" + e.Code + "]"
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// Coded is what every error with a code has; packages that may not import
// this one satisfy it too.
type Coded interface {
	error
	ErrorCode() string
}

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }
