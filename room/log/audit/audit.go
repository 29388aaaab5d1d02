// Package audit writes the host log: requests to the agents of this device, with
// requester, room and result, refusals included. It is a file of JSON lines in the
// data folder, separate from the rooms, because it is about the device.
//
//	{"time":"2026-03-01T12:00:00Z","profile":"coder","device":"d1","requester":"alice",
//	 "room":"r1","turn":4,"mode":"manual","status":"refused","reason":"rate limit","ms":2}
//
// It never holds a text of a message. Its values may come from other devices, so
// control characters are removed from each, and each is cut to a limit.
package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/folkmoot/moot/internal/term"
	"github.com/folkmoot/moot/problem"
)

// FileName is the name of the host log in the data folder. Earlier parts are in
// the same folder, as audit-TIME.jsonl.
const FileName = "audit.jsonl"

const (
	maxSize   = 16 << 20 // bytes, after which a new file is begun
	keep      = 4        // earlier parts
	maxValue  = 200      // bytes of a name or an id
	maxReason = 500      // bytes of a reason
)

// An Event is one request to this device.
type Event struct {
	Time      time.Time `json:"time"`
	Profile   string    `json:"profile,omitempty"`   // the requested agent
	Device    string    `json:"device,omitempty"`    // of the requester; empty for this one
	Requester string    `json:"requester,omitempty"` // a person or program
	Room      string    `json:"room,omitempty"`
	Turn      int       `json:"turn,omitempty"` // 0 outside a turn
	Mode      string    `json:"mode,omitempty"` // approval mode
	Status    string    `json:"status"`         // how it ended: granted, refused, posted, failed, ...
	Reason    string    `json:"reason,omitempty"`
	MS        int64     `json:"ms"` // how long it took, in milliseconds
	// Count is how many events this line stands for; 0 is one. Equal refusals of
	// a minute are one line each for the first and for the rest.
	Count int `json:"count,omitempty"`
}

// Config says where the host log is and how it is written. The zero Config
// writes to the current folder.
type Config struct {
	Dir    string              // data folder; it must exist
	Sync   bool                // wait for stable storage at every event
	Redact func(string) string // removes what is secret from a value; nil removes nothing

	size int64         // after which a new file is begun; 0 is maxSize
	fold time.Duration // how long equal refusals are counted; 0 is foldTime
}

// A Log is an open host log. It is safe for concurrent use, and several
// processes may append to one file.
type Log struct {
	c    Config
	path string
	mu   sync.Mutex
	f    *os.File // nil after Close
	cut  bool     // the file ends within a line, after a failed write

	size    int64     // of the file, as far as this process has seen
	checked time.Time // when the file was last compared with the one at path

	folds   map[foldKey]*fold
	timer   *time.Timer // writes folds whose time is over; nil before the first
	overdue bool        // folds could not be written
}

// Open opens the host log in c.Dir and makes it, for the user alone, when
// there is none.
func Open(c Config) (*Log, error) {
	if c.size == 0 {
		c.size = maxSize
	}
	if c.fold == 0 {
		c.fold = foldTime
	}
	l := &Log{c: c, path: filepath.Join(c.Dir, FileName), folds: map[foldKey]*fold{}}
	if err := l.open(); err != nil {
		return nil, l.explain("opening the host log", err)
	}
	return l, nil
}

// open opens the file and completes a last line that was cut short, so that
// the next event is on a line of its own.
func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte{'\n'})
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f, l.cut = f, false
	return nil
}

// Append adds an event. A zero Time becomes now. An error means that the event
// may be missing from the log; a caller that requires the entry must refuse.
//
// A device that is refused again and again must not push everything else out of
// the log. So of equal refusals the first is written at once, and those of the
// following minute together, with their count. An Append after a count that could not
// be written tries that again first, and returns its error.
func (l *Log) Append(e Event) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return &problem.Error{Code: "LOG-CLOSED", What: "the host log is closed", Where: l.path, Fix: "open it again"}
	}
	var overdue error
	if l.overdue {
		overdue = l.writeFolds(time.Now())
	}
	if l.folded(e) {
		return overdue
	}
	if err := l.write(e); err != nil {
		return err
	}
	l.fold(e)
	return overdue
}

// write writes the line of an event. The caller holds mu.
func (l *Log) write(e Event) error {
	line, err := l.line(e)
	if err != nil {
		return fmt.Errorf("encoding an audit event: %w", err)
	}
	if err := l.rotate(int64(len(line))); err != nil {
		return l.explain("beginning a new host log", err)
	}
	if l.cut {
		line = append([]byte{'\n'}, line...)
	}
	if n, err := l.f.Write(line); err != nil {
		l.cut = l.cut || n > 0
		return l.explain("writing the host log", err)
	}
	l.cut = false
	if l.c.Sync {
		if err := l.f.Sync(); err != nil {
			return l.explain("writing the host log", err)
		}
	}
	return nil
}

// line returns an event's form in the file.
func (l *Log) line(e Event) ([]byte, error) {
	e.Time = e.Time.UTC().Round(0)
	for _, v := range []*string{&e.Profile, &e.Device, &e.Requester, &e.Room, &e.Mode, &e.Status} {
		*v = l.value(*v, maxValue)
	}
	e.Reason = l.value(e.Reason, maxReason)
	return appendLine(make([]byte, 0, 256), &e)
}

// value redacts, cleans and cuts one value. It redacts before it cuts, because a
// cut secret would not be recognised.
func (l *Log) value(s string, limit int) string {
	if l.c.Redact != nil {
		s = l.c.Redact(s)
	}
	if s = term.Line(s); len(s) <= limit {
		return s
	}
	const more = "..."
	s = s[:limit-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}

// Close waits for a write in progress. A second Close does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	err := errors.Join(l.writeFolds(time.Time{}), l.f.Sync(), l.f.Close())
	l.f = nil
	if err != nil {
		return l.explain("closing the host log", err)
	}
	return nil
}

// explain turns an error of the file into one for the user.
func (l *Log) explain(doing string, err error) error {
	p := &problem.Error{Code: "LOG-IO", What: doing, Where: l.path, Err: err, Fix: "check the disk, then start again"}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		p.Code, p.Fix = "LOG-FULL", "free space on the disk of the data folder"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		p.Code, p.Fix = "LOG-READONLY", "make the data folder writable for you, or choose another with --data"
	case errors.Is(err, fs.ErrNotExist):
		p.Code, p.Fix = "LOG-OPEN", "check that the data folder exists, or choose another with --data"
	}
	return p
}

// escape makes a folder's name match itself in a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// checkEvery is how often a file is compared with the one at its path. Until then a process may
// write to a part that another one has just ended.
const checkEvery = 100 * time.Millisecond

// rotate sees to it that n more bytes may be written: it begins a new file when
// this one is full, or when another process has done so.
func (l *Log) rotate(n int64) error {
	if l.size += n; l.size <= l.c.size && time.Since(l.checked) < checkEvery {
		return nil
	}
	ours, err := l.f.Stat()
	if err != nil {
		return err
	}
	current, err := os.Stat(l.path)
	l.size, l.checked = ours.Size()+n, time.Now()
	switch {
	case err == nil && os.SameFile(ours, current):
		if ours.Size() == 0 || ours.Size()+n <= l.c.size {
			return nil
		}
		part := filepath.Join(l.c.Dir, "audit-"+time.Now().UTC().Format("20060102T150405.000000000Z")+".jsonl")
		if err := os.Rename(l.path, part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	old := l.f
	if err := l.open(); err != nil {
		return err
	}
	l.size = n
	return errors.Join(old.Close(), l.prune())
}

// prune removes the oldest parts. Their names sort by time.
func (l *Log) prune() error {
	parts, err := filepath.Glob(filepath.Join(escape(l.c.Dir), "audit-*Z.jsonl"))
	if err != nil {
		return err
	}
	slices.Sort(parts)
	for i := 0; i < len(parts)-keep; i++ {
		if err := os.Remove(parts[i]); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
