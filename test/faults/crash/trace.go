// Package crash enumerates the states in which a power failure may leave a folder. It
// reads the system calls of a process that strace has recorded, and builds the images
// that the file system may show afterwards. Tests open each of them with the engine.
package crash

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Calls are the system calls that a recording needs, as the argument of strace's -e.
// -f, -y, -xx and -s 1000000 are needed as well.
const Calls = "trace=openat,open,write,pwrite64,fsync,fdatasync,ftruncate,truncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat"

// A Kind says what a Call changes.
type Kind int

// Kinds of calls.
const (
	Write    Kind = iota // Data at Off of the file Path; Off is -1 at the end
	Sync                 // all earlier writes of Path, a file or a folder, are durable
	Truncate             // the file Path to Off bytes
	Create               // the file Path
	Link                 // To is another name of Path
	Rename               // Path to To
	Unlink               // Path
	Print                // Data to standard output
)

// A Call is a system call that succeeded. Start and End are line numbers of the
// recording: calls of different threads overlap.
type Call struct {
	Kind       Kind
	Path, To   string
	Off        int64
	Data       []byte
	Start, End int
}

// Parse reads a recording. It returns the successful calls that change files below dir,
// an absolute path, or print, in the order of their ends. Paths are relative to dir.
func Parse(r io.Reader, dir string) ([]Call, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	open := map[string]string{} // the call of a thread that has not returned
	starts := map[string]int{}
	var calls []Call
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return calls, nil
		}
		if err != nil {
			return nil, err
		}
		thread, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		text = strings.TrimSpace(text)
		start := n
		if begun, ok := strings.CutSuffix(text, "<unfinished ...>"); ok {
			open[thread], starts[thread] = strings.TrimSpace(begun), n
			continue
		}
		if strings.HasPrefix(text, "<... ") {
			_, rest, ok := strings.Cut(text, "resumed>")
			if !ok || open[thread] == "" {
				return nil, fmt.Errorf("line %d: a call ends that has not begun", n)
			}
			text, start = open[thread]+" "+strings.TrimSpace(rest), starts[thread]
			delete(open, thread)
		}
		c, ok, err := parseCall(text, dir)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			c.Start, c.End = start, n
			calls = append(calls, c)
		}
	}
}

// An arg is one argument: a text in quotes, a descriptor with its path, or a word.
type arg struct {
	text []byte
	path string
	word string
}

// parseCall decodes a whole call. ok is false for one that changes nothing here.
func parseCall(text, dir string) (c Call, ok bool, err error) {
	name, rest, _ := strings.Cut(text, "(")
	end := strings.LastIndex(rest, ") ")
	if end < 0 || !strings.HasPrefix(strings.TrimLeft(rest[end+2:], " "), "= ") || strings.Contains(rest[end:], "= -1 ") {
		return c, false, nil // a signal, the end of a thread, or a call that failed
	}
	args, err := parseArgs(rest[:end])
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", name, err)
	}
	c.Off = -1
	first, second := 0, 1
	switch name {
	case "write", "pwrite64":
		c.Kind, c.Data = Write, args[1].text
		if args[0].word == "1" {
			c.Kind = Print
			return c, true, nil
		}
		if name == "pwrite64" {
			c.Off, err = strconv.ParseInt(args[3].word, 10, 64)
		}
	case "fsync", "fdatasync":
		c.Kind = Sync
	case "ftruncate", "truncate":
		c.Kind = Truncate
		c.Off, err = strconv.ParseInt(args[1].word, 10, 64)
	case "open", "openat":
		if name == "openat" {
			first = 1
		}
		switch flags := args[first+1].word; {
		case strings.Contains(flags, "O_TRUNC"):
			c.Kind, c.Off = Truncate, 0
		case strings.Contains(flags, "O_CREAT"):
			c.Kind = Create
		default:
			return c, false, nil
		}
	case "rename":
		c.Kind = Rename
	case "renameat", "renameat2":
		c.Kind, first, second = Rename, 1, 3
	case "link":
		c.Kind = Link
	case "linkat":
		c.Kind, first, second = Link, 1, 3
	case "unlink":
		c.Kind = Unlink
	case "unlinkat":
		c.Kind, first = Unlink, 1
	default:
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	if c.Path, ok = below(dir, args[first].path); !ok {
		return c, false, nil
	}
	if c.Kind == Rename || c.Kind == Link {
		if c.To, ok = below(dir, args[second].path); !ok {
			return c, false, fmt.Errorf("a file leaves the folder for %s", args[second].path)
		}
	}
	return c, true, nil
}

// below returns path relative to dir.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	return strings.CutPrefix(path, dir+"/")
}

// parseArgs splits the arguments of a call. Texts and paths are encoded as \xNN.
func parseArgs(text string) ([]arg, error) {
	var args []arg
	for text != "" {
		var a arg
		end := strings.IndexAny(text, `"<,`)
		switch {
		case end < 0:
			a.word, text = text, ""
		case text[end] == '"':
			quoted, rest, ok := strings.Cut(text[end+1:], `"`)
			if !ok || strings.HasPrefix(rest, "...") {
				return nil, fmt.Errorf("argument %.60q is cut", text)
			}
			a.text, text = decode(quoted), rest
			a.path = string(a.text)
		case text[end] == '<':
			path, rest, ok := strings.Cut(text[end+1:], ">")
			if !ok {
				return nil, fmt.Errorf("argument %.60q has no end", text)
			}
			a.word, a.path = text[:end], string(decode(path))
			if strings.HasPrefix(rest, "(deleted)") {
				a.path = ""
			}
			text = rest
		default:
			a.word = text[:end]
		}
		a.word = strings.TrimSpace(a.word)
		_, text, _ = strings.Cut(text, ", ")
		args = append(args, a)
	}
	return args, nil
}

// decode decodes \xNN. A text in another form is returned as it is.
func decode(text string) []byte {
	if b, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, "")); err == nil && strings.HasPrefix(text, `\x`) {
		return b
	}
	return []byte(text)
}
