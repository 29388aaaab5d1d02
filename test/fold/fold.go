// Command fold folds logs of rooms and prints digests of the states. Its test builds
// it for WebAssembly, and compares what it prints on both engines of the sandbox with
// the fold of this machine: the state of a room depends on its events only.
//
// It reads lines from its standard input: "room NAME" begins a room, and each other
// line is an event as the log stores it. After every 16th event and at the end of a room
// it prints the name, the number of the event, and the SHA-256 of the state as a
// snapshot holds it.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/folkmoot/moot/room"
)

func main() {
	if err := fold(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fold:", err)
		os.Exit(1)
	}
}

// every is the number of events between two digests.
const every = 16

// fold folds the rooms of in and prints the digests to out.
func fold(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	name, state := "", &room.State{}
	for lines.Scan() {
		next, begins := strings.CutPrefix(lines.Text(), "room ")
		switch {
		case begins:
			if err := digest(out, name, state); err != nil {
				return err
			}
			name, state = next, &room.State{}
			continue
		}
		e, err := room.UnmarshalEvent(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if state.Apply(e); e.Seq%every == 0 {
			if err := digest(out, name, state); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return digest(out, name, state)
}

// digest prints the digest of a state. A room without events has none.
func digest(out io.Writer, name string, s *room.State) error {
	if s.Seq == 0 {
		return nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(out, "%s %d %x\n", name, s.Seq, sha256.Sum256(b))
	return err
}
