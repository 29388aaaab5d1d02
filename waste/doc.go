// Package waste counts the tokens of conversations and rooms that did not help: turns
// after a labelled error, loops, duplicates, acknowledgements, and context that is sent
// again.
//
// An [Account] is fed run by run and turn by turn. It keeps figures and a few quoted
// examples, so its memory does not grow with the length of the runs.
//
// A turn costs the tokens of its text, and its prompt: the tokens that the model reads
// to write it. Both are the usage that the source states, and otherwise estimates:
// bytes/4 of the text, and for a prompt all texts of the run before it. A turn of
// several kinds of waste counts as the first of them in the order of [Kinds]. So the
// tokens of the kinds add up to those of the waste, and they never exceed the total.
package waste
