package sqlite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// HeadsName is the name of the file of heads in the data folder.
const HeadsName = "moot.heads"

// A head is the last event of a room that a commit has stored: its number and
// the hash of the chain there. Heads have a file of their own, because a database
// cannot detect that its own end is missing: SQLite stops at the first damaged
// frame of its write-ahead log, and rows, events and chain go back together.
// A log that ends before its head has lost events. A log that is longer is
// intact: the process ended between the commit and the head.
type head struct {
	seq  uint64
	hash [32]byte
}

// Kinds of records in the file of heads. The last record of a kind and a room
// applies.
const (
	headKind     = "head"     // seq and hash of the last event
	snapshotKind = "snapshot" // seq and digest of the snapshot that the room's owner has stored
	removedKind  = "removed"  // the room has neither any more; seq and hash of its last event, zero when any head after this counts
)

// A headRecord is one line of the file of heads.
type headRecord struct {
	kind string
	room string
	head
}

// headSum is the length in bytes of a record's checksum.
const headSum = 8

// append adds the encoded record to b. A record begins with a line break, so
// that one that a crash has cut short damages no other.
func (r *headRecord) append(b []byte) []byte {
	body := append(append([]byte{}, r.kind...), ' ')
	body = append(strconv.AppendUint(body, r.seq, 10), ' ')
	body = append(hex.AppendEncode(body, r.hash[:]), ' ')
	body = strconv.AppendQuote(body, r.room)
	sum := sha256.Sum256(body)
	b = hex.AppendEncode(append(b, '\n'), sum[:headSum])
	return append(append(b, ' '), body...)
}

// parseHead decodes a line. ok is false for a damaged one.
func parseHead(line string) (r headRecord, ok bool) {
	sum, body, _ := strings.Cut(line, " ")
	want := sha256.Sum256([]byte(body))
	if sum != hex.EncodeToString(want[:headSum]) {
		return r, false
	}
	fields := strings.SplitN(body, " ", 4)
	if len(fields) != 4 || len(fields[2]) != hex.EncodedLen(len(r.hash)) {
		return r, false
	}
	r.kind = fields[0]
	var numeric, named error
	r.seq, numeric = strconv.ParseUint(fields[1], 10, 64)
	r.room, named = strconv.Unquote(fields[3])
	_, hexed := hex.Decode(r.hash[:], []byte(fields[2]))
	return r, errors.Join(numeric, named, hexed) == nil
}

// headSet is the content of the file of heads.
type headSet struct {
	heads     map[string]head // by room
	snapshots map[string]head // by room; the hash is the snapshot's digest
	removed   map[string]head // by room; the last event of one that was removed
	damaged   int             // lines
	size      int64           // of the file in bytes
	exists    bool
}

// parseHeads decodes the file. It leaves out damaged lines and counts them.
func parseHeads(b []byte) headSet {
	s := headSet{heads: map[string]head{}, snapshots: map[string]head{}, removed: map[string]head{}, size: int64(len(b))}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		// After a power failure the file may have its new size and zeros in the place of
		// its last records. The record before them is durable.
		line, _, zeros := bytes.Cut(line, []byte{0})
		if zeros {
			s.damaged++
		}
		if len(line) == 0 {
			continue
		}
		r, ok := parseHead(string(line))
		if !ok {
			s.damaged++
			continue
		}
		s.add(r)
	}
	return s
}

func (s *headSet) add(r headRecord) {
	switch r.kind {
	case headKind:
		// Another process may have written a later head first, or have removed the
		// room between the commit and the head.
		if s.heads[r.room].seq <= r.seq && s.removed[r.room] != r.head {
			s.heads[r.room] = r.head
		}
	case snapshotKind:
		s.snapshots[r.room] = r.head
	case removedKind:
		delete(s.heads, r.room)
		delete(s.snapshots, r.room)
		s.removed[r.room] = r.head
	}
}

// readHeads reads the file of heads. A missing file is an empty set.
func readHeads(path string) (headSet, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return headSet{}, err
	}
	s := parseHeads(b)
	s.exists = err == nil
	return s, nil
}

// headFile is the open file of heads of one handle. Its methods are safe for
// concurrent use; only the writer appends.
type headFile struct {
	path string

	mu        sync.Mutex
	unchecked map[string]head // as the file had them when it was opened; rooms that have been compared are removed
	snapshots map[string]head // as known to this handle, without some if there are many; see maxSnapshots
	damaged   int             // lines of the file when it was opened

	f      *os.File  // nil until the writer has opened it
	size   int64     // of the file in bytes, about
	least  int64     // size in bytes up to which the file is not written again; 0 is 1 MiB
	most   int64     // the size from which it is written again, without old records
	dirty  bool      // written since the last sync
	synced time.Time // time of the last sync
}

// load reads the file.
func (h *headFile) load() (headSet, error) {
	s, err := readHeads(h.path)
	if err != nil {
		return s, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unchecked, h.snapshots, h.damaged = s.heads, s.snapshots, s.damaged
	return s, nil
}

// of returns the head that the room's log has to reach, if it has not been
// compared yet.
func (h *headFile) of(room string) (head, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	want, ok := h.unchecked[room]
	return want, ok
}

// rooms returns the rooms that have not been compared with their heads.
func (h *headFile) rooms() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.unchecked))
	for name := range h.unchecked {
		names = append(names, name)
	}
	return names
}

// reached notes that the room's log reaches its head, or that the room was
// removed.
func (h *headFile) reached(room string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.unchecked, room)
}

// reload reads the room's head again and reports whether it is another one:
// another process may have removed the room since the file was read.
func (h *headFile) reload(room string) bool {
	s, err := readHeads(h.path)
	if err != nil || !s.exists {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before, after := h.unchecked[room], s.heads[room]
	if before == after {
		return false
	}
	if after.seq == 0 {
		delete(h.unchecked, room)
	} else {
		h.unchecked[room] = after
	}
	return true
}

// vouches reports whether the file has the digest of a snapshot. It reads the file
// again if not: another process may have stored the snapshot.
func (h *headFile) vouches(room string, snapshot head) bool {
	h.mu.Lock()
	known := h.snapshots[room] == snapshot
	h.mu.Unlock()
	if known {
		return true
	}
	s, err := readHeads(h.path)
	return err == nil && s.snapshots[room] == snapshot
}

// append writes records to the end of the file. They survive the end of the
// process; sync makes them survive a power failure.
func (h *headFile) append(records ...headRecord) error {
	if len(records) == 0 {
		return nil
	}
	var b []byte
	for i := range records {
		b = records[i].append(b)
	}
	for {
		if _, err := h.f.Write(b); err != nil {
			return err
		}
		h.size, h.dirty = h.size+int64(len(b)), true
		if sameFile(h.f, h.path) {
			break
		}
		if err := h.open(); err != nil { // another process has replaced the file
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range records {
		switch r.kind {
		case snapshotKind:
			h.keepSnapshot(r)
		case removedKind:
			delete(h.unchecked, r.room)
			delete(h.snapshots, r.room)
		}
	}
	return nil
}

// maxSnapshots is how many digests of snapshots a handle keeps, unless the file had more when
// it was opened. For another snapshot the file is read again.
const maxSnapshots = 4096

// keepSnapshot keeps the digest of a snapshot, in place of any other one if there are many. The
// caller holds mu.
func (h *headFile) keepSnapshot(r headRecord) {
	if _, known := h.snapshots[r.room]; !known && len(h.snapshots) >= maxSnapshots {
		for other := range h.snapshots {
			delete(h.snapshots, other)
			break
		}
	}
	h.snapshots[r.room] = r.head
}

// open opens the file for appending and makes it if it is missing.
func (h *headFile) open() error {
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	h.close()
	h.f, h.size = f, info.Size()
	h.most = max(cmp.Or(h.least, 1<<20), 4*h.size)
	return nil
}

// syncEvery is the least time between two syncs. The writer looks as often, so
// that heads are durable after twice this time.
const syncEvery = 200 * time.Millisecond

// syncDue makes what was appended durable, when that is due.
func (h *headFile) syncDue() error {
	if time.Since(h.synced) < syncEvery {
		return nil
	}
	return h.sync()
}

// sync makes what was appended durable.
func (h *headFile) sync() error {
	if !h.dirty {
		return nil
	}
	if err := h.f.Sync(); err != nil {
		return err
	}
	h.dirty, h.synced = false, time.Now()
	return nil
}

func (h *headFile) close() {
	if h.f != nil {
		h.f.Close() // it was synced, or the handle has failed
	}
}

// damage describes damaged lines of the file, "" when there are none.
func (h *headFile) damage() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damaged == 0 {
		return ""
	}
	return fmt.Sprintf("%d damaged lines in %s, which are replaced when a room is run", h.damaged, HeadsName)
}
