// Package timeline shows a running room in a terminal and sends the commands of
// a person to the room.
//
// It is not a full-screen program. Events are written line by line and never
// redrawn, so the output scrolls, copies and redirects like any other. Only the
// last line of a terminal is redrawn: the status of the room, or the line that
// the person is typing. [Printer] converts events to lines. [Session] adds the
// input of the person.
//
// A session reads keys from a terminal. Without a terminal it reads commands, one
// a line, so that a script can act as the person. Untrusted text passes through
// internal/term, so an agent cannot control the terminal.
package timeline
