package share

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/problem"
)

// Bounds of a Journal.
const (
	keptAnswers  = 100 // of each device
	keptTexts    = 64  // digests of each request
	keptFor      = 24 * time.Hour
	maxRequests  = 10_000 // of each device, within keptFor
	maxJournal   = 8 << 20
	maxEntrySize = 1 << 20
)

// A Journal records the requests that a Share was asked and the answers, in an
// append-only file of JSON lines. Each line is on stable storage before the
// call returns. The journal keeps a day of requests, and the answers of the
// last hundred of each device. Its methods may be called concurrently.
type Journal struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	file    *os.File
	size    int64
	failed  error // of a write: what is on the disk is not known any more
	devices map[identity.DeviceID]*deviceRequests
}

// deviceRequests are the requests of one device.
type deviceRequests struct {
	byID   map[string]*entry
	order  []*entry         // oldest first
	epochs map[string]epoch // by room: the highest
}

type epoch struct {
	n  uint64
	at time.Time
}

// An entry is a line of the file. A request and its answer are two lines with
// the same request id.
type entry struct {
	At      time.Time         `json:"at"`
	From    identity.DeviceID `json:"from"`
	Room    string            `json:"room"`
	Epoch   uint64            `json:"epoch"`
	Request string            `json:"request"`
	Answer  json.RawMessage   `json:"answer,omitempty"`
	// Said holds digests of the texts that the agent gave to the room. It outlasts
	// the answer.
	Said []string `json:"said,omitempty"`
}

// ErrStale means that a request is of a host that was restarted since: a newer
// process speaks for its room.
var ErrStale = errors.New("relay: a newer host has asked since")

// OpenJournal reads the journal at path, or creates one. It drops a last line
// that a crash cut short, and what is older than a day.
func OpenJournal(path string) (*Journal, error) {
	j := &Journal{path: path, now: time.Now}
	if err := j.open(); err != nil {
		return nil, unreadable(path, err)
	}
	return j, nil
}

func unreadable(path string, err error) error {
	return &problem.Error{
		Code: "RELAY-JOURNAL", What: "the journal of what was shared cannot be read", Where: path,
		Fix: "restore it, or move it away: repeated requests of the last day then run the agent again", Err: err,
	}
}

// DropOld drops what is older than a day from the journal at path, which no
// Journal has open. It does nothing if there is none.
func DropOld(path string, now time.Time) error {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil
	}
	j := &Journal{path: path, now: func() time.Time { return now }}
	if err := j.read(); err != nil {
		return unreadable(path, err)
	}
	if !j.hasOld() {
		return nil
	}
	if err := j.compact(); err != nil {
		return unreadable(path, err)
	}
	return j.file.Close()
}

// DropOld drops what is older than a day.
func (j *Journal) DropOld() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil || !j.hasOld() {
		return j.failed
	}
	if err := j.compact(); err != nil {
		return j.fail(err)
	}
	return nil
}

// hasOld reports whether the file has a request that is older than a day.
func (j *Journal) hasOld() bool {
	oldest := j.now().Add(-keptFor)
	for _, d := range j.devices {
		if len(d.order) > 0 && d.order[0].At.Before(oldest) {
			return true
		}
	}
	return false
}

func (j *Journal) open() error {
	if err := j.read(); err != nil {
		return err
	}
	return j.compact()
}

// read reads the file into memory.
func (j *Journal) read() error {
	j.devices = map[identity.DeviceID]*deviceRequests{}
	b, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in := bufio.NewReader(bytes.NewReader(b))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		j.remember(&e)
	}
}

// remember adds a line to the index in memory.
func (j *Journal) remember(e *entry) {
	d := j.devices[e.From]
	if d == nil {
		d = &deviceRequests{byID: map[string]*entry{}, epochs: map[string]epoch{}}
		j.devices[e.From] = d
	}
	if ep := d.epochs[e.Room]; e.Epoch >= ep.n {
		d.epochs[e.Room] = epoch{e.Epoch, e.At}
	}
	have := d.byID[e.Request]
	if have == nil {
		d.byID[e.Request] = e
		d.order = append(d.order, e)
		return
	}
	have.Epoch = max(have.Epoch, e.Epoch)
	have.Said = append(have.Said, e.Said...)
	have.Said = have.Said[max(0, len(have.Said)-keptTexts):]
	if e.Answer != nil {
		have.Answer = e.Answer
	}
	for i := len(d.order) - keptAnswers - 1; i >= 0 && d.order[i].Answer != nil && !bytes.Equal(d.order[i].Answer, dropped); i-- {
		d.order[i].Answer = dropped
	}
}

// dropped stands for an answer that is not kept any more.
var dropped = json.RawMessage("null")

// compact writes a new file with the entries that are still kept.
func (j *Journal) compact() error {
	var b bytes.Buffer
	oldest := j.now().Add(-keptFor)
	for _, d := range j.devices {
		kept := d.order[:0]
		for _, e := range d.order {
			if e.At.Before(oldest) {
				delete(d.byID, e.Request)
				continue
			}
			kept = append(kept, e)
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
		}
		d.order = kept
		for room, ep := range d.epochs {
			if ep.at.Before(oldest) {
				delete(d.epochs, room)
			}
		}
	}
	if err := atomicfile.WriteDurable(j.path, b.Bytes()); err != nil {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // it was replaced
	}
	j.file, j.size = f, int64(b.Len())
	return nil
}

// find returns whether a request was begun, and its answer if it is kept. The
// error is ErrStale when the epoch is not the highest of the room.
func (j *Journal) find(from identity.DeviceID, room, request string, n uint64) (known bool, answer json.RawMessage, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.devices[from]
	if d == nil {
		return false, nil, nil
	}
	if n < d.epochs[room].n {
		return false, nil, ErrStale
	}
	e := d.byID[request]
	if e == nil {
		return false, nil, nil
	}
	if bytes.Equal(e.Answer, dropped) {
		return true, nil, nil
	}
	return true, e.Answer, nil
}

// begin records a request before its agent runs, or a higher epoch of a known
// request.
func (j *Journal) begin(from identity.DeviceID, room, request string, n uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if d := j.devices[from]; d != nil {
		if e := d.byID[request]; e != nil && e.Epoch >= n {
			return nil
		}
		if len(d.byID) >= maxRequests {
			if err := j.compact(); err != nil {
				return j.fail(err)
			}
		}
		if len(d.byID) >= maxRequests {
			return errors.New("the device has asked too much for one day")
		}
	}
	return j.add(&entry{At: j.now().UTC(), From: from, Room: room, Request: request, Epoch: n})
}

// end records the answer of a request that was begun, and the digest of its text.
func (j *Journal) end(from identity.DeviceID, room, request string, answer json.RawMessage, said ...string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	return j.add(&entry{At: j.now().UTC(), From: from, Room: room, Request: request, Answer: answer, Said: said})
}

func (j *Journal) add(e *entry) error {
	if j.failed != nil {
		return j.failed
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(line) > maxEntrySize {
		return fmt.Errorf("%d bytes are too much for the journal", len(line))
	}
	if j.size > maxJournal {
		if err := j.compact(); err != nil {
			return j.fail(err)
		}
	}
	n, err := j.file.Write(append(line, '\n'))
	j.size += int64(n)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return j.fail(err)
	}
	j.remember(e)
	return nil
}

// fail makes this and all later writes fail.
func (j *Journal) fail(err error) error {
	j.failed = fmt.Errorf("writing the journal: %w", err)
	return j.failed
}

// Close closes the file. Later writes fail.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = errors.New("the journal is closed")
	}
	return j.file.Close()
}
