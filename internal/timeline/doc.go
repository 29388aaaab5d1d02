// Package timeline shows a room in a terminal while it runs, and hands the
// room what the person in front of it wants.
//
// It is no full-screen program: what has happened is written line by line and
// never touched again, so it scrolls, copies and redirects like any output.
// Only the last line of a terminal is redrawn: how the room stands, or what
// the person is typing. [Printer] turns events into those lines and needs
// nothing else; [Session] adds the person.
//
// A session reads keys where there is a terminal, and otherwise commands, one
// a line, so that a script can be the person. Everything that others wrote
// passes through internal/term first: an agent's words cannot steer the
// terminal.
package timeline
