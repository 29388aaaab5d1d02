package foreign

import "bytes"

// An input is a whole file of another program.
type input struct {
	name string
	raw  []byte
	docs []value // of JSON formats: the file, or its lines
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

// documents parses a JSON file, or the lines of a file of JSON lines.
func documents(raw []byte, name string) ([]value, error) {
	trimmed := bytes.TrimSpace(raw)
	first, rest, _ := bytes.Cut(trimmed, []byte("\n"))
	if len(bytes.TrimSpace(rest)) == 0 || !complete(first) {
		v, err := parse(raw, name, 0)
		return []value{v}, err
	}
	var docs []value
	n := 0
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := parse(line, name, n)
		if err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
	return docs, nil
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
	for _, key := range []string{"history", "chat_history", "messages"} {
		if m := v.get(key); m.kind() == '[' {
			return m
		}
	}
	return value{nil, v.at}
}
