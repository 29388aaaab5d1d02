package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/internal/strict"
	"github.com/folkmoot/moot/problem"
)

// A record is what is stored of a session besides its room.
type record struct {
	ID      string    `json:"id"`           // of its room
	By      string    `json:"by,omitempty"` // the session that has created it; "" is a person or a program
	Depth   int       `json:"depth,omitempty"`
	Folder  string    `json:"cwd"`
	Agent   string    `json:"agent"`
	Created time.Time `json:"created"`
	Until   time.Time `json:"until"`           // its end, unless it gets another message
	Ended   string    `json:"ended,omitempty"` // why it has ended; "" has not
}

// list is the content of the file of sessions.
type list struct {
	Sessions []record `json:"sessions"`
}

// maxListBytes is the largest size of the file.
const maxListBytes = 4 << 20

func readList(path string) (l list, err error) {
	if path == "" {
		return l, nil
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err == nil && len(b) > maxListBytes:
		err = fmt.Errorf("over %d bytes", maxListBytes)
	case err == nil:
		err = strict.Decode(b, 3, &l)
	}
	if err != nil {
		return list{}, &problem.Error{Code: "SESSION-LIST", What: "the list of sessions cannot be read", Where: path, Fix: "move it away; its sessions stay as rooms", Err: err}
	}
	return l, nil
}

// change changes the list and its file. On an error the list stays as it was.
func (l *list) change(path string, f func(*list)) error {
	next := list{Sessions: slices.Clone(l.Sessions)}
	f(&next)
	next.Sessions = slices.DeleteFunc(next.Sessions, func(x record) bool { return x.Ended != "" && time.Now().After(x.Until) })
	if path != "" {
		b, err := json.MarshalIndent(next, "", "  ")
		if err == nil {
			err = atomicfile.WriteDurable(path, append(b, '\n'))
		}
		if err != nil {
			return fmt.Errorf("storing the list of sessions: %w", err)
		}
	}
	*l = next
	return nil
}

func (l *list) find(id string) (record, bool) {
	for _, x := range l.Sessions {
		if x.ID == id {
			return x, true
		}
	}
	return record{}, false
}

func (l *list) drop(id string) {
	l.Sessions = slices.DeleteFunc(l.Sessions, func(x record) bool { return x.ID == id })
}

// set changes the session with that id.
func (l *list) set(id string, f func(*record)) {
	for i := range l.Sessions {
		if l.Sessions[i].ID == id {
			f(&l.Sessions[i])
		}
	}
}
