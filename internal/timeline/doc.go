// Package timeline shows a running room to a person and sends the commands of the
// person to the room.
//
// [Printer] converts events to lines. [Session] adds the input of the person. With
// a [Terminal] it shows a screen: the timeline, the state of the room and an
// input line that always has the focus. Otherwise it writes the timeline line by
// line and reads commands, one a line, so that a script can act as the person.
//
// Untrusted text passes through internal/term, so an agent cannot control the
// terminal.
package timeline
