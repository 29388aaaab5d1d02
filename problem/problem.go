// Package problem defines the error that users see. It has a stable code, and
// says what happened, where, and what to do about it.
package problem

import "strings"

// An Error describes a failure for the user. Code is stable and in upper case,
// such as ROOM-MANUAL. All fields but Code and What may be empty.
type Error struct {
	Code  string // stable, for scripts and searches
	What  string // one sentence, without a full stop
	Where string // place: file:line:col, a room, a digest
	Fix   string // advice, with the command to run
	Err   error  // the cause; not printed if What contains it
	Kind  error  // a sentinel for errors.Is; never printed
}

// Error returns the place, the description and the code on one line.
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

// Unwrap returns Kind and Err, as far as set.
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

// Coded is implemented by all errors with a code. Packages that may not import
// this package can implement it too.
type Coded interface {
	error
	ErrorCode() string
}

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }
