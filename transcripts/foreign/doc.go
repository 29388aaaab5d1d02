// Package foreign imports conversations that other programs wrote. It converts
// them to the neutral format of package transcripts.
//
// The format of a file is detected from its content, never from its name. For
// all formats: a participant keeps the id and the display name of the source.
// Pieces that the source marks as one message, by a shared id, become one turn.
// Addressees are those that the source states, by mentions, routing, hand-offs
// and replies; none is guessed from a text.
//
// A [Report] counts every piece of a source: as a turn, as joined to the turn
// before, or as left out, with the reason. A piece that breaks its format is left out
// too, and the report names the file and the line or the JSON path. A strict import
// ends there with a *problem.Error.
//
// Files are untrusted. A file is read into memory, at most [MaxBytes] after
// decompression. JSON is refused if it is not valid UTF-8, nests deeper than
// [MaxDepth] or repeats a key. In text files, invalid UTF-8 is replaced and
// counted. The bounds of archives are in archive.go. Unknown fields are
// ignored, because these formats grow with every release of their programs.
package foreign
