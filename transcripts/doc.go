// Package transcripts holds the forms in which a room leaves its log and
// comes back: the portable JSONL form, which loses nothing for who may see
// all of it, and Markdown and HTML for people. It also reads the neutral form
// of conversations from elsewhere and turns them into events of a room.
//
// Everything here streams over io.Reader and io.Writer; what is read is
// bounded and strictly decoded, and what is wrong is named by file and line.
// Only Markdown, HTML and statistics hold a whole room in memory.
package transcripts
