package relay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

const (
	keepAnswers = 100 // of each device
	keepFor     = 24 * time.Hour
	maxKnown    = 10_000 // requests of each device, for as long; more are refused
	maxJournal  = 8 << 20
	maxEntry    = 1 << 20
)

// A Journal is what a Share has been asked and has answered, on disk: a file
// of JSON lines that is only added to, each line on stable storage before the
// call returns. It keeps a day; answers of the last hundred requests of each
// device, and of older ones that they were asked.
type Journal struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	f      *os.File
	size   int64
	broken error // after a write that failed nothing is promised any more
	by     map[identity.DeviceID]*asked
}

// asked is what one device has asked.
type asked struct {
	known  map[string]*entry // by request
	order  []*entry          // oldest first
	epochs map[string]epoch  // by room: the highest
}

type epoch struct {
	n  uint64
	at time.Time
}

// An entry is a line of the file. An Answer, where there is one, is a line of
// its own with the same request.
type entry struct {
	At      time.Time         `json:"at"`
	From    identity.DeviceID `json:"from"`
	Room    string            `json:"room"`
	Epoch   uint64            `json:"epoch"`
	Request string            `json:"request"`
	Answer  json.RawMessage   `json:"answer,omitempty"`
}

// ErrStale means that a request is of a host that has been started again
// since: another process speaks for its room now.
var ErrStale = errors.New("relay: a newer host has asked since")

// OpenJournal reads the journal at path, or begins one. A last line that was
// cut short by a crash is dropped: what it would have said was not promised.
func OpenJournal(path string) (*Journal, error) {
	j := &Journal{path: path, now: time.Now}
	if err := j.open(); err != nil {
		return nil, &problem.Error{
			Code: "RELAY-JOURNAL", What: "the journal of what was shared cannot be read", Where: path,
			Fix: "restore it, or move it away: then questions of the last day that are asked again are answered anew", Err: err,
		}
	}
	return j, nil
}

func (j *Journal) open() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	j.by = map[identity.DeviceID]*asked{}
	b, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in := bufio.NewReader(bytes.NewReader(b))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		j.note(&e)
	}
	return j.rewrite()
}

// note takes a line into memory.
func (j *Journal) note(e *entry) {
	a := j.by[e.From]
	if a == nil {
		a = &asked{known: map[string]*entry{}, epochs: map[string]epoch{}}
		j.by[e.From] = a
	}
	if ep := a.epochs[e.Room]; e.Epoch >= ep.n {
		a.epochs[e.Room] = epoch{e.Epoch, e.At}
	}
	have := a.known[e.Request]
	if have == nil {
		a.known[e.Request] = e
		a.order = append(a.order, e)
		return
	}
	have.Epoch = max(have.Epoch, e.Epoch)
	if e.Answer != nil {
		have.Answer = e.Answer
	}
	for i := len(a.order) - keepAnswers - 1; i >= 0 && a.order[i].Answer != nil && !bytes.Equal(a.order[i].Answer, forgotten); i-- {
		a.order[i].Answer = forgotten
	}
}

// forgotten stands for an answer that is not kept any more.
var forgotten = json.RawMessage("null")

// rewrite begins a new file with what is still of use.
func (j *Journal) rewrite() error {
	var b bytes.Buffer
	old := j.now().Add(-keepFor)
	for _, a := range j.by {
		kept := a.order[:0]
		for _, e := range a.order {
			if e.At.Before(old) {
				delete(a.known, e.Request)
				continue
			}
			kept = append(kept, e)
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
		}
		a.order = kept
		for room, ep := range a.epochs {
			if ep.at.Before(old) {
				delete(a.epochs, room)
			}
		}
	}
	f, err := replace(j.path, b.Bytes())
	if err != nil {
		return err
	}
	if j.f != nil {
		_ = j.f.Close() // of the file that was replaced
	}
	j.f, j.size = f, int64(b.Len())
	return nil
}

// replace puts a new file in the place of one, durably and in one step, and
// leaves it open.
func replace(path string, b []byte) (*os.File, error) {
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// look returns what is known of a request: whether it was begun, and its
// answer. ErrStale: its host is not the newest of its room.
func (j *Journal) look(from identity.DeviceID, room, request string, n uint64) (known bool, answer json.RawMessage, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.by[from]
	if a == nil {
		return false, nil, nil
	}
	if n < a.epochs[room].n {
		return false, nil, ErrStale
	}
	e := a.known[request]
	if e == nil {
		return false, nil, nil
	}
	if bytes.Equal(e.Answer, forgotten) {
		return true, nil, nil
	}
	return true, e.Answer, nil
}

// begin writes down that a request is about to be worked on, or that it was
// asked again in a higher epoch.
func (j *Journal) begin(from identity.DeviceID, room, request string, n uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a := j.by[from]; a != nil {
		if e := a.known[request]; e != nil && e.Epoch >= n {
			return nil
		}
		if len(a.known) >= maxKnown {
			if err := j.rewrite(); err != nil {
				return j.fail(err)
			}
		}
		if len(a.known) >= maxKnown {
			return errors.New("the device has asked too much for one day")
		}
	}
	return j.add(&entry{At: j.now().UTC(), From: from, Room: room, Request: request, Epoch: n})
}

// end writes down the answer of a request that was begun.
func (j *Journal) end(from identity.DeviceID, room, request string, answer json.RawMessage) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.add(&entry{At: j.now().UTC(), From: from, Room: room, Request: request, Answer: answer})
}

func (j *Journal) add(e *entry) error {
	if j.broken != nil {
		return j.broken
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(line) > maxEntry {
		return fmt.Errorf("%d bytes are too much for the journal", len(line))
	}
	if j.size > maxJournal {
		if err := j.rewrite(); err != nil {
			return j.fail(err)
		}
	}
	n, err := j.f.Write(append(line, '\n'))
	j.size += int64(n)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return j.fail(err)
	}
	j.note(e)
	return nil
}

// fail ends all promises: what is on the disk is not known any more.
func (j *Journal) fail(err error) error {
	j.broken = fmt.Errorf("writing the journal: %w", err)
	return j.broken
}

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = errors.New("the journal is closed")
	}
	return j.f.Close()
}
