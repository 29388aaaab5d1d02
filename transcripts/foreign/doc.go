// Package foreign reads conversations that other programs wrote down, and
// makes conversations of package transcripts' neutral form of them.
//
// A form is told by what a file holds, never by its name. The forms differ;
// three things hold for all of them. A participant's id is the source's own
// and its display name stands beside it. Pieces that the source marks as one
// message, by an id that they share, are one turn. Addressees are those that
// the source states, by mentions, routing, hand-offs and replies; none is
// guessed from a text.
//
// Nothing is left out silently: a [Report] counts every piece of a source as
// a turn, as joined to the turn before, or as left out, with the reason. What
// does not have the shape that its form promises ends the reading with a
// *problem.Error that names the file, and the line or the path in the JSON.
//
// A file is a stranger's. It is read into memory, at most [MaxBytes] of it
// after decompression; JSON is refused when it is not valid UTF-8, nests
// deeper than [MaxDepth] or repeats a key. Bytes of a text file that are not
// UTF-8 are replaced, and counted. Archives are held to the bounds in
// archive.go. What a source says of itself beyond what a form needs is passed
// over: these forms grow with every release of their programs.
package foreign
