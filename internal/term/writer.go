package term

import "io"

// Writer returns a writer that strips what it writes to w. A sequence that is
// cut between two writes is not found, so each write should be a whole text.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

func (s writer) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, Strip(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
