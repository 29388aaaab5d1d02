// Package transcripts reads and writes the log of a room outside the room.
//
// The portable format is JSON lines: a header, then one line for each event. At
// level All it is lossless and carries the hash chain of the log. Below that
// level it withholds texts and settings. Markdown, HTML, text, CSV, chat
// messages and OpenTelemetry spans are exports for people and other programs.
//
// The neutral format holds conversations from elsewhere, one JSON object a
// line. [Conversation.Events] converts them to the events of a room.
//
// All functions stream over io.Reader and io.Writer. Only Markdown, HTML, text
// and statistics hold a whole room in memory. Input is bounded and strictly
// decoded; errors are of type *problem.Error and name file and line.
package transcripts
