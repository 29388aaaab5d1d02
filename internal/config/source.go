package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxFileBytes bounds one file.
const MaxFileBytes = 1 << 20

// A source is the text of one file.
type source struct {
	name  string // as the user wrote it
	dir   string // absolute folder
	text  []byte // UTF-8, without a byte order mark
	lines []string
	root  *yaml.Node // the top mapping; nil when there is none
}

// readSource reads and parses the file at path. The problem is nil if the file
// could be parsed.
func readSource(path, name string, included bool) (*source, *Problem) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, unreadable(name, err)
	}
	text, err := readBounded(path, included)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return newSource(name, filepath.Dir(abs), text)
}

// lineBreak is what the YAML parser counts as the end of a line.
var lineBreak = regexp.MustCompile(`\r\n|[\n\r\x{85}\x{2028}\x{2029}]`)

// newSource parses the text of a file.
func newSource(name, dir string, text []byte) (*source, *Problem) {
	s := &source{name: name, dir: dir}
	if len(text) > MaxFileBytes {
		return nil, &Problem{
			Position: Position{File: name}, Code: "ROOM-SIZE",
			What: fmt.Sprintf("over %d bytes", MaxFileBytes), Hint: "move a long script to its own file",
		}
	}
	s.text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s.lines = lineBreak.Split(string(s.text), -1)
	if p := s.checkText(); p != nil {
		return s, p
	}
	return s, s.parse()
}

func unreadable(name string, err error) *Problem {
	p := &Problem{Position: Position{File: name}, Code: "ROOM-READ", What: "cannot be read: " + reasonWithoutPath(err)}
	if errors.Is(err, fs.ErrNotExist) {
		p.What, p.Hint = "no such file", "create one with `moot init`"
	}
	return p
}

// reasonWithoutPath is the text of err without the path, which is part of the
// position.
func reasonWithoutPath(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// readBounded reads at most MaxFileBytes+1 bytes. An included file must be a
// regular file, because reading a pipe could block for ever.
func readBounded(path string, included bool) ([]byte, error) {
	if included {
		if st, err := os.Stat(path); err != nil {
			return nil, err
		} else if !st.Mode().IsRegular() {
			return nil, errors.New("not a regular file")
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
}

// checkText finds bytes that are not UTF-8 and control characters. The YAML
// parser gives no line for them.
func (s *source) checkText() *Problem {
	line, col := 1, 0
	for rest := s.text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		col++
		switch {
		case r == utf8.RuneError && n == 1:
			p := s.problemAt(line, col, "ROOM-UTF8", fmt.Sprintf("byte 0x%02x is not UTF-8", rest[0]))
			p.Hint = "save the file as UTF-8"
			return p
		case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f:
			return s.problemAt(line, col, "ROOM-UTF8", fmt.Sprintf("control character 0x%02x", r))
		case r == '\n':
			line, col = line+1, 0
		}
		rest = rest[n:]
	}
	return nil
}

// parse parses exactly one YAML document, which must be a mapping.
func (s *source) parse() *Problem {
	dec := yaml.NewDecoder(bytes.NewReader(s.text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return s.problemAt(0, 0, "ROOM-YAML", "the file is empty")
		}
		return s.syntaxProblem(err)
	}
	if err := dec.Decode(&more); err == nil {
		return s.problemAt(more.Line, more.Column, "ROOM-YAML", "a second YAML document; a file describes one room")
	} else if !errors.Is(err, io.EOF) {
		return s.syntaxProblem(err)
	}
	if len(doc.Content) == 0 {
		return s.problemAt(0, 0, "ROOM-YAML", "the file is empty")
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return s.problemAt(top.Line, top.Column, "ROOM-TYPE", "got "+kindOf(top)+", want a mapping such as `version: room/v1`")
	}
	s.root = top
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxProblem finds the position of an error of the YAML parser. The parser
// names a line, but not always the right one. The most frequent cause is a tab
// in the indentation.
func (s *source) syntaxProblem(err error) *Problem {
	msg, line := err.Error(), 0
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = msg[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
	}
	if strings.HasPrefix(msg, "did not find expected") {
		line++ // these errors count from 0
	}
	line = min(line, len(s.lines))
	for line > 1 && strings.TrimSpace(s.lines[line-1]) == "" {
		line-- // skip empty lines at the end of the file
	}
	if l, c := s.findTab(); l > 0 && (line == 0 || l <= line+1) {
		p := s.problemAt(l, c, "ROOM-YAML", "a tab in the indentation")
		p.Hint = "indent YAML with spaces"
		return p
	}
	return s.problemAt(line, 1, "ROOM-YAML", msg)
}

// findTab returns the position of the first tab in an indentation; 0 for none.
func (s *source) findTab() (line, col int) {
	for i, l := range s.lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
		if c := strings.IndexByte(indent, '\t'); c >= 0 && len(indent) < len(l) {
			return i + 1, c + 1
		}
	}
	return 0, 0
}

// problemAt returns a problem at a position in the file.
func (s *source) problemAt(line, col int, code, what string) *Problem {
	p := &Problem{Position: Position{File: s.name, Line: line, Col: col}, Code: code, What: what}
	if line > 0 && line <= len(s.lines) {
		p.Source = s.lines[line-1]
	}
	return p
}

// kindOf describes a node in messages, as written. It never shows the value of
// a variable.
func kindOf(n *yaml.Node) string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	}
	text := []rune(n.Value)
	if len(text) > 60 {
		text = append(text[:57], '.', '.', '.')
	}
	return strconv.Quote(string(text))
}
