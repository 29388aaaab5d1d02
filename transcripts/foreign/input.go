package foreign

import (
	"bytes"
	"fmt"
	"slices"
)

// maxItems bounds the lines, rows, spans or events of a file that are held at the same
// time: an empty one takes two bytes in the file and a hundred in memory.
var maxItems = 2_000_000

func tooMany(where string) error {
	return sizeError(where, fmt.Sprintf("the file has more than %d lines or entries", maxItems))
}

// collect appends the items of a list.
func (v value) collect(all []value) []value {
	for item := range v.items() {
		if len(all) == maxItems {
			v.at.document().refuse(tooMany(v.at.String()))
			return nil
		}
		all = append(all, item)
	}
	return all
}

// An input is a whole file of another program.
type input struct {
	name   string
	raw    []byte
	docs   []value // of JSON formats: the file, or its lines
	strict bool    // an error in a piece ends the import
	faults faults  // lines that are no JSON
}

// firstError returns the first error of the documents.
func (in *input) firstError() error {
	for _, d := range in.docs {
		if err := d.failed(); err != nil {
			return err
		}
	}
	return nil
}

// document returns the document of a file that holds exactly one.
func (in *input) document() (value, error) {
	if len(in.docs) != 1 {
		return value{}, shapeError(in.docs[min(1, len(in.docs)-1)].at.document().where(), "expected one JSON document, found another after it", nil)
	}
	return in.docs[0], nil
}

// parse parses a JSON file, or the lines of a file of JSON lines, once.
func (in *input) parse() error {
	if in.docs != nil {
		return nil
	}
	first, rest, _ := bytes.Cut(bytes.TrimSpace(in.raw), []byte("\n"))
	if len(bytes.TrimSpace(rest)) > 0 && complete(first) {
		return in.parseLines()
	}
	v, err := parse(in.raw, in.name, 0)
	if err == nil {
		in.docs = []value{v}
	} else if in.mostlyLines() {
		err = nil
	}
	return err
}

// mostlyLines parses JSON lines of which the first is damaged, as in the end of a
// longer file. Most of the lines have to be objects.
func (in *input) mostlyLines() bool {
	notObject := func(v value) bool { return v.kind() != '{' }
	if !in.strict && in.parseLines() == nil && len(in.docs) > in.faults.n && !slices.ContainsFunc(in.docs, notObject) {
		return true
	}
	in.docs, in.faults = nil, faults{}
	return false
}

// parseLines parses JSON lines. A lenient import leaves out lines that are no JSON.
func (in *input) parseLines() error {
	n, first := 0, error(nil)
	for line := range bytes.SplitSeq(in.raw, []byte("\n")) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if len(in.docs) == maxItems {
			return tooMany(in.name)
		}
		v, err := parse(line, in.name, n)
		switch {
		case err == nil:
			in.docs = append(in.docs, v)
			continue
		case first == nil:
			first = err
		}
		if in.faults.add(err); in.strict {
			return err
		}
	}
	if len(in.docs) == 0 {
		return first
	}
	return nil
}

// complete reports whether a line is one JSON object.
func complete(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")) && balanced(line)
}

// balanced reports whether brackets outside strings match. A faulty line then
// still counts as a line, and the error names the fault.
func balanced(line []byte) bool {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return depth == 0
}

// messageList returns the list of messages in an object that wraps one.
func messageList(v value) value {
	for _, key := range []string{"history", "chat_history", "messages", "trajectory", "traj"} {
		if m := v.get(key); m.kind() == '[' {
			return m
		}
	}
	return value{nil, v.at}
}
