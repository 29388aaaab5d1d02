package foreign

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxBytes is how much of a file is read, after decompression. The neutral
// form, which is read line by line, has bounds of its own.
const MaxBytes = 256 << 20

// A File is a file whose form is known.
type File struct {
	Format Format

	name string
	own  io.Reader // when Format is Moot
	in   *input
}

// An input is a file of another program, whole.
type input struct {
	name string
	raw  []byte
	docs []value // of forms that are JSON: the file, or its lines
}

// Open learns the form of what r holds, or takes it for want if that is not
// "". name stands for the file in errors and, without its endings, for
// conversations that have no id of their own. gzip is seen through.
func Open(r io.Reader, name string, want Format) (*File, error) {
	b := bufio.NewReaderSize(r, headBytes)
	head, err := peek(b)
	if err != nil {
		return nil, unread(name, err)
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, damaged(name, "the file starts like gzip and is none", err)
		}
		b = bufio.NewReaderSize(z, headBytes)
		if head, err = peek(b); err != nil {
			return nil, damaged(name, "the compressed file cannot be read", err)
		}
	}
	f := &File{Format: want, name: name}
	if want == Moot || want == "" && ours(head) {
		f.Format, f.own = Moot, b
		return f, nil
	}
	return f, f.read(b)
}

// headBytes is how much of a file shows whether it is one of ours.
const headBytes = 64 << 10

func peek(b *bufio.Reader) ([]byte, error) {
	head, err := b.Peek(headBytes)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}

// read takes in the whole file and settles its form.
func (f *File) read(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return damaged(f.name, "the file cannot be read to its end", err)
	}
	if len(raw) > MaxBytes {
		return oversized(f.name, fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	f.in = &input{name: f.name, raw: raw}
	if f.Format == "" {
		if f.Format, err = guess(f.in); err != nil {
			return err
		}
	}
	if f.Format.json() && f.in.docs == nil {
		f.in.docs, err = documents(raw, f.name)
	}
	return err
}

// json reports whether a form is JSON or lines of it.
func (f Format) json() bool {
	switch f {
	case Slack, IRC, WebVTT, SRT:
		return false
	}
	return true
}

// Own returns what package transcripts is to read, of a file of format Moot.
func (f *File) Own() io.Reader { return f.own }

// Conversations returns what a file of another program holds. After an error
// the sequence ends. When nothing is said in all of the file that is an error.
func (f *File) Conversations() iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		said, last := false, (*Report)(nil)
		for c, err := range f.all() {
			if err != nil {
				yield(nil, err)
				return
			}
			if c.Conversation == nil {
				last = &c.Report
				continue
			}
			said = true
			if !yield(c, nil) {
				return
			}
		}
		if !said {
			yield(nil, silent(f.name, f.Format, last))
		}
	}
}

// all yields what the reader of the format finds; a conversation in which
// nothing is said has a report alone.
func (f *File) all() iter.Seq2[*Conversation, error] {
	switch f.Format {
	case AutoGen:
		return single(f.in, readAutoGen)
	case AutoGenState:
		return single(f.in, readTeam)
	case MagenticOne:
		return single(f.in, readMagentic)
	case ClaudeCode:
		return single(f.in, readClaude)
	case Codex:
		return single(f.in, readCodex)
	case OTel:
		return readSpans(f.in)
	case Slack:
		return readSlack(f.in)
	case IRC:
		return single(f.in, readIRC)
	case OpenAI:
		return readChats(f.in)
	case A2A:
		return readTasks(f.in)
	case WebVTT, SRT:
		return single(f.in, readCaptions(f.Format))
	case OpenCode:
		return readOpenCode(f.in)
	}
	return func(yield func(*Conversation, error) bool) { yield(nil, unknown(f.name, "format "+string(f.Format))) }
}

// single is for forms of which a file is one conversation.
func single(in *input, read func(*input) (*talk, error)) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		t, err := read(in)
		yield(t.done(err))
	}
}

// done ends the reading of t. Without a turn there is a report alone.
func (t *talk) done(err error) (*Conversation, error) {
	if err != nil {
		return nil, err
	}
	c, err := t.finish()
	if err == nil && c == nil {
		c = &Conversation{Report: t.report}
	}
	return c, err
}

// first returns the first error of the documents.
func (in *input) first() error {
	for _, d := range in.docs {
		if err := d.failed(); err != nil {
			return err
		}
	}
	return nil
}

// document returns the only document of a file.
func (in *input) document() (value, error) {
	if len(in.docs) != 1 {
		return value{}, misshapen(in.docs[min(1, len(in.docs)-1)].at.document().where(), "the file is to be one JSON document, and there is another", nil)
	}
	return in.docs[0], nil
}
