package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/room/log"
)

// A valueHeader begins the last message of a subject in the stream of blobs and snapshots;
// a line break and the content follow, unless the content is in parts. Parts are messages
// of the same subject before it that begin with a line break.
type valueHeader struct {
	Size  int      `json:"size"`
	Sum   []byte   `json:"sum"` // SHA-256
	Parts []uint64 `json:"parts,omitempty"`
}

var errBadValue = errors.New("its message is damaged")

// getValue returns the content of a subject and the number of its last message. With
// errNoMessage the number is not zero if the subject has messages.
func (d *DB) getValue(ctx context.Context, subject string) (content []byte, seq uint64, err error) {
	stream := d.stream(keepStream)
	m, err := d.last(ctx, stream, subject)
	if isNotFound(err) {
		all, listing := d.subjects(ctx, stream, subject)
		if listing == nil && len(all) > 0 {
			return nil, 0, errBadValue // the server has it and cannot read it
		}
		return nil, 0, errors.Join(err, listing)
	}
	if err != nil {
		return nil, 0, err
	}
	head, rest, ok := bytes.Cut(m.Data, []byte("\n"))
	var h valueHeader
	if !ok {
		return nil, m.Seq, errBadValue
	}
	if len(head) == 0 {
		return nil, m.Seq, fmt.Errorf("parts of a value that was not completed: %w", errNoMessage)
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, m.Seq, errBadValue
	}
	for _, part := range h.Parts {
		p, err := d.at(ctx, stream, part)
		if isNotFound(err) {
			return nil, m.Seq, errBadValue
		}
		if err != nil {
			return nil, m.Seq, err
		}
		rest = append(rest, bytes.TrimPrefix(p.Data, []byte("\n"))...)
	}
	if sum := sha256.Sum256(rest); len(rest) != h.Size || !bytes.Equal(sum[:], h.Sum) {
		return nil, m.Seq, errBadValue
	}
	return rest, m.Seq, nil
}

// putValue stores the content of a subject after its message expected.
func (d *DB) putValue(ctx context.Context, subject string, content []byte, expected uint64) (seq uint64, err error) {
	sum := sha256.Sum256(content)
	h := valueHeader{Size: len(content), Sum: sum[:]}
	for len(content) > d.most {
		expected, err = d.publish(ctx, subject, append([]byte("\n"), content[:d.most]...), expected)
		if err != nil {
			return 0, err
		}
		h.Parts, content = append(h.Parts, expected), content[d.most:]
		if len(content) <= d.most { // all of a value is in parts, or nothing
			expected, err = d.publish(ctx, subject, append([]byte("\n"), content...), expected)
			if err != nil {
				return 0, err
			}
			h.Parts, content = append(h.Parts, expected), nil
		}
	}
	head, err := json.Marshal(h)
	if err != nil {
		return 0, err
	}
	return d.publish(ctx, subject, append(append(head, '\n'), content...), expected)
}

// PutBlob implements [log.Blobs].
func (d *DB) PutBlob(ctx context.Context, content []byte) (string, error) {
	ctx, done, err := d.beginWriting(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	digest := log.Digest(content)
	if err := d.retry(ctx, func() error { return d.putBlob(ctx, digest, content) }); err != nil {
		return "", unreachable("blob "+digest, err)
	}
	return digest, nil
}

// blobWait is how long a writer of a blob at least has for its next part.
const blobWait = 500 * time.Millisecond

// putBlob stores a blob if it is not there. It does not begin while another writer stores parts
// of the same content: two writers would have each other's parts refused, again and again.
func (d *DB) putBlob(ctx context.Context, digest string, content []byte) error {
	subject := d.subject("blob", digest)
	seen := uint64(0) // the number of the last part at the last look
	for wait := blobWait; ; wait = min(2*wait, 8*blobWait) {
		_, seq, err := d.getValue(ctx, subject)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errBadValue):
			if err := d.purge(ctx, d.stream(keepStream), subject); err != nil { // it is stored again
				return err
			}
			seen, seq = 0, 0
		case !isNotFound(err):
			return err
		}
		if seq == seen { // no writer is at work
			if _, err := d.putValue(ctx, subject, content, seq); !errors.Is(err, errWrongLast) {
				return err
			}
		}
		seen = seq
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Digests implements [log.Blobs].
func (d *DB) Digests(ctx context.Context) ([]string, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	stored, err := d.subjects(ctx, d.stream(keepStream), d.prefix+".blob.*")
	if err != nil {
		return nil, unreachable("stream "+d.stream(keepStream), err)
	}
	var digests []string
	for _, subject := range stored {
		if digest, ok := decodeName(subject[strings.LastIndexByte(subject, '.')+1:]); ok {
			digests = append(digests, digest)
		}
	}
	slices.Sort(digests)
	return digests, nil
}

// Blob implements [log.Blobs].
func (d *DB) Blob(ctx context.Context, digest string) ([]byte, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	content, _, err := d.getValue(ctx, d.subject("blob", digest))
	switch {
	case isNotFound(err):
		return nil, fmt.Errorf("blob %.80q: %w", digest, log.ErrNotFound)
	case errors.Is(err, errBadValue) || err == nil && log.Digest(content) != digest:
		return nil, log.Corrupt("", 0, fmt.Sprintf("the content of blob %s has another digest", digest))
	case err != nil:
		return nil, unreachable("blob "+digest, err)
	}
	return content, nil
}

// snapshotHeader is the length of what is before a snapshot's data: its seq and hash.
const snapshotHeader = 8 + 32

func decodeSnapshot(b []byte) (s log.Snapshot, ok bool) {
	if len(b) < snapshotHeader {
		return s, false
	}
	return log.Snapshot{Seq: binary.BigEndian.Uint64(b), Hash: [32]byte(b[8:snapshotHeader]), Data: b[snapshotHeader:]}, true
}

// PutSnapshot implements [log.Snapshots]. A snapshot that is not of the room's chain is a
// conflict; one that is older than the stored one is ignored.
func (d *DB) PutSnapshot(ctx context.Context, name string, s log.Snapshot) error {
	ctx, done, err := d.beginWriting(ctx)
	if err != nil {
		return err
	}
	defer done()
	last, err := d.tail(ctx, name)
	if err != nil {
		return err
	}
	if last.state.seq == 0 {
		return fmt.Errorf("keeping a snapshot: room %s: %w", name, log.ErrNotFound)
	}
	hash := last.state.hash
	if s.Seq > 0 && s.Seq < last.state.seq {
		entries, err := d.page(ctx, last, log.At(int64(s.Seq-1)), 1)
		if err != nil {
			return err
		}
		hash = entries[0].Hash
	}
	if s.Seq == 0 || s.Seq > last.state.seq || hash != s.Hash {
		return fmt.Errorf("keeping a snapshot of room %s at %d: %w", name, s.Seq, log.ErrConflict)
	}
	if err := d.retry(ctx, func() error { return d.replaceSnapshot(ctx, d.subject("snapshot", name), s) }); err != nil {
		return unreachable("room "+name, err)
	}
	return nil
}

// replaceSnapshot stores a snapshot unless a newer one is there, and erases the others.
func (d *DB) replaceSnapshot(ctx context.Context, subject string, s log.Snapshot) error {
	for {
		content, seq, err := d.getValue(ctx, subject)
		if err == nil {
			if old, ok := decodeSnapshot(content); ok && old.Seq > s.Seq {
				return nil
			}
		} else if !isNotFound(err) && !errors.Is(err, errBadValue) {
			return err
		}
		if seq == 0 && errors.Is(err, errBadValue) {
			if err := d.purge(ctx, d.stream(keepStream), subject); err != nil {
				return err
			}
		}
		b := append(binary.BigEndian.AppendUint64(nil, s.Seq), s.Hash[:]...)
		stored, err := d.putValue(ctx, subject, append(b, s.Data...), seq)
		if errors.Is(err, errWrongLast) && ctx.Err() == nil {
			continue // another process has stored one
		}
		if err != nil || seq == 0 {
			return err
		}
		return d.eraseOld(ctx, subject, seq+1, stored)
	}
}

// eraseOld erases the messages of a snapshot before the one that was just stored.
func (d *DB) eraseOld(ctx context.Context, subject string, before, stored uint64) error {
	return d.eraseSubject(ctx, d.stream(keepStream), subject, min(before, stored))
}

// eraseSnapshot erases the snapshot of a room.
func (d *DB) eraseSnapshot(ctx context.Context, name string) error {
	stream, subject := d.stream(keepStream), d.subject("snapshot", name)
	err := d.eraseSubject(ctx, stream, subject, anySeq)
	if err == nil {
		err = d.purge(ctx, stream, subject)
	}
	if err != nil {
		return unreachable("room "+name, err)
	}
	return nil
}

// Snapshot implements [log.Snapshots]. The error of a damaged snapshot is both
// [log.ErrNotFound], because callers can do without it, and [log.ErrCorrupt].
func (d *DB) Snapshot(ctx context.Context, name string) (log.Snapshot, error) {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return log.Snapshot{}, err
	}
	defer done()
	content, _, err := d.getValue(ctx, d.subject("snapshot", name))
	switch {
	case isNotFound(err):
		return log.Snapshot{}, fmt.Errorf("snapshot of room %s: %w", name, log.ErrNotFound)
	case err != nil && !errors.Is(err, errBadValue):
		return log.Snapshot{}, unreachable("room "+name, err)
	}
	s, ok := decodeSnapshot(content)
	if err != nil || !ok {
		return log.Snapshot{}, fmt.Errorf("%w: %w", log.ErrNotFound, log.Corrupt(name, 0, "its snapshot is damaged"))
	}
	return s, nil
}
