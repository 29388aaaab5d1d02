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

// MaxBytes bounds the size of a file after decompression. The neutral format is
// read line by line and has other bounds.
const MaxBytes = 256 << 20

// A File is a file of known format.
type File struct {
	Format Format

	name  string
	moot  io.Reader // when Format is Moot
	input *input
	byMap *Map // when Format is Mapped
}

// Options say how a file is read. The zero value detects the format and is lenient.
type Options struct {
	// Format overrides detection; "" detects.
	Format Format
	// Strict ends the import at the first piece that breaks its format. A lenient
	// import leaves it out, counts it and names it in the report.
	Strict bool
	// Map says where the messages are in a file of any form of JSON, or in CSV. It
	// overrides Format.
	Map *Map
}

// Open detects the format of r, which may be compressed with gzip. name is the name of
// the file in errors; without its extensions it is the id of conversations that have
// none.
func Open(r io.Reader, name string, o Options) (*File, error) {
	want := o.Format
	if o.Map != nil {
		want = Mapped
	}
	b := bufio.NewReaderSize(r, headBytes)
	head, err := peek(b)
	if err != nil {
		return nil, readError(name, err)
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, archiveError(name, "the file starts like gzip but is not", err)
		}
		b = bufio.NewReaderSize(z, headBytes)
		if head, err = peek(b); err != nil {
			return nil, archiveError(name, "the compressed file cannot be read", err)
		}
	}
	f := &File{Format: want, name: name, byMap: o.Map}
	if want == Moot || want == "" && isMoot(head) {
		f.Format, f.moot = Moot, b
		return f, nil
	}
	return f, f.read(b, o.Strict)
}

// headBytes is how much of a file isMoot looks at.
const headBytes = 64 << 10

func peek(b *bufio.Reader) ([]byte, error) {
	head, err := b.Peek(headBytes)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}

// read reads the whole file and detects its format.
func (f *File) read(r io.Reader, strict bool) error {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return archiveError(f.name, "the file cannot be read to its end", err)
	}
	if len(raw) > MaxBytes {
		return sizeError(f.name, fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	f.input = &input{name: f.name, raw: raw, strict: strict}
	if f.Format == "" {
		if f.Format, err = detect(f.input); err != nil {
			return err
		}
	}
	if trimmed := bytes.TrimSpace(raw); f.byMap != nil && (len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[') {
		return f.input.parseRows()
	}
	if f.Format.json() && !(f.Format == Inspect && isZip(raw)) {
		return f.input.parse()
	}
	return nil
}

// MootReader returns the content for transcripts.NewReader. It is nil unless the
// format is Moot.
func (f *File) MootReader() io.Reader { return f.moot }

// Conversations returns the conversations of a file of another program. The
// sequence ends after an error. A file without messages is an error.
func (f *File) Conversations() iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		said, last := false, (*Report)(nil)
		for c, err := range f.conversations() {
			if err != nil {
				yield(nil, err)
				return
			}
			if c.Conversation == nil {
				last = &c.Report
				f.input.faults.take(c.Report)
				continue
			}
			said = true
			if !yield(c, nil) {
				return
			}
		}
		if !said {
			yield(nil, emptyError(f.name, f.Format, last))
		}
	}
}

// Faults returns how many pieces behind the last conversation break the format, and the
// first of them. It is known when Conversations has ended.
func (f *File) Faults() (n int, named []Fault) { return f.input.faults.n, f.input.faults.named }

// conversations yields what the reader of the format finds. A conversation
// without messages has only a report.
func (f *File) conversations() iter.Seq2[*Conversation, error] {
	if f.byMap != nil {
		return f.byMap.read(f.input)
	}
	if read := readers[f.Format]; read != nil {
		return read(f.input)
	}
	return func(yield func(*Conversation, error) bool) {
		yield(nil, formatError(f.name, string(f.Format)))
	}
}

var readers = map[Format]func(*input) iter.Seq2[*Conversation, error]{
	AutoGen: readChats(AutoGen, autoGenSpeaker), AutoGenState: single(readAutoGenState), MagenticOne: single(readMagentic), ClaudeCode: single(readClaude),
	Codex: single(readCodex), OTel: readSpans, Slack: readSlack, IRC: single(readIRC), OpenAI: readChats(OpenAI, chatSpeaker), A2A: readTasks,
	WebVTT: single(readCaptions(WebVTT)), SRT: single(readCaptions(SRT)), OpenCode: readOpenCode,
	Hermes: readHermes, Gemini: single(readGemini), Qwen: single(readQwen),
	Discord: single(readDiscord), Matrix: single(readMatrix), Inspect: readInspect, LangSmith: readLangSmith,
}

// single reads a format with one conversation a file.
func single(read func(*input) (*builder, error)) func(*input) iter.Seq2[*Conversation, error] {
	return func(in *input) iter.Seq2[*Conversation, error] {
		return func(yield func(*Conversation, error) bool) {
			t, err := read(in)
			yield(t.done(err))
		}
	}
}
