package endpoint

import "strconv"

// Omitted counts the messages that a prompt does not give whole. It holds numbers
// and ids only: the device that renders the prompt words the sentence.
type Omitted struct {
	Spans   []Omission // of messages that are left out, oldest first
	LinesTo int64      // new messages up to this sequence number are given as one line each; 0 without any
	Unsent  int        // earlier messages that a request to another device had no room for
	NoLines bool       // it had no room for the lines about older messages either
	// Unnumbered means that messages are left out and that the host gives no
	// numbers.
	Unnumbered bool
}

// An Omission is a run of messages that are left out.
type Omission struct {
	To       int64 // sequence number of the newest
	Messages int
	By       []Count
}

// A Count counts the messages of one participant.
type Count struct {
	From     string
	Messages int
}

// Sentence says what is left out; "" says that nothing is.
func (o Omitted) Sentence() string {
	var b []byte
	for _, s := range o.Spans {
		b = append(separate(b, "; "), "messages up to #"...)
		b = strconv.AppendInt(b, s.To, 10)
		b = append(b, " are left out: "...)
		b = strconv.AppendInt(b, int64(s.Messages), 10)
		for i, c := range s.By {
			b = append(b, [...]string{" (", ", "}[min(i, 1)]...)
			b = append(append(b, oneLine(c.From)...), ' ')
			b = strconv.AppendInt(b, int64(c.Messages), 10)
		}
		if len(s.By) > 0 {
			b = append(b, ')')
		}
	}
	if o.LinesTo > 0 {
		b = append(separate(b, "; "), "new messages up to #"...)
		b = strconv.AppendInt(b, o.LinesTo, 10)
		b = append(b, " did not fit and are given as one line each"...)
	}
	if o.Unsent > 0 {
		b = append(separate(b, "; "), "the oldest "...)
		b = strconv.AppendInt(b, int64(o.Unsent), 10)
		b = append(b, " of the earlier messages did not fit"...)
	}
	if o.NoLines {
		b = append(separate(b, "; "), "the lines about older messages did not fit"...)
	}
	if o.Unnumbered {
		b = append(separate(b, "; "), "some messages are left out"...)
	}
	return string(b)
}

// separate appends sep to b unless b is empty.
func separate(b []byte, sep string) []byte {
	if len(b) == 0 {
		return make([]byte, 0, 128)
	}
	return append(b, sep...)
}
