package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// PutSnapshot implements [log.Snapshots]. A snapshot that is not of the
// room's chain is a conflict; one that is older than the stored one is
// ignored.
func (d *DB) PutSnapshot(ctx context.Context, name string, s log.Snapshot) error {
	return d.submit(ctx, func(w *writer) error {
		t, err := w.room(name)
		if err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("keeping a snapshot: room %s: %w", name, log.ErrNotFound)
		}
		if hash, err := w.hash(t, s.Seq); err != nil || hash != s.Hash {
			return errors.Join(fmt.Errorf("keeping a snapshot of room %s at %d: %w", name, s.Seq, log.ErrConflict), err)
		}
		stored, err := integer(w.c.one("select coalesce(max(seq), 0) from snapshots where room = ?", t.id))
		if err != nil || uint64(stored) > s.Seq {
			return err
		}
		sum := rows.SnapshotSum(&s)
		// The record without the snapshot, after a crash, vouches for nothing.
		if err := w.d.heads.append(headRecord{snapshotKind, name, head{s.Seq, sum}}); err != nil {
			return w.d.fileError("writing "+HeadsName, err)
		}
		data := s.Data
		if data == nil {
			data = []byte{}
		}
		w.pages += 2 + len(data)/4096
		return w.c.exec(`insert into snapshots(room, seq, hash, data, sum) values(?, ?, ?, ?, ?)
			on conflict do update set seq = excluded.seq, hash = excluded.hash, data = excluded.data, sum = excluded.sum`, t.id, int64(s.Seq), s.Hash[:], data, sum[:])
	})
}

// hash returns the chain's hash at seq, the zero hash where there is no event.
func (w *writer) hash(t *tail, seq uint64) ([32]byte, error) {
	if seq == t.last {
		return t.hash, nil
	}
	row, err := w.c.one("select proof from events where key = ?", key(t.id, seq))
	var b []byte
	if errors.Is(err, errNoRow) || err == nil && (!get(row[0], &b) || len(b) < 32) {
		return [32]byte{}, nil
	}
	if err != nil {
		return [32]byte{}, err
	}
	return [32]byte(b[:32]), nil
}

// Snapshot implements [log.Snapshots]. It returns a snapshot only if its digest is
// the one that PutSnapshot has recorded in the file of heads. The error of a damaged snapshot is both
// [log.ErrNotFound], because callers can do without it, and [log.ErrCorrupt].
func (d *DB) Snapshot(ctx context.Context, name string) (log.Snapshot, error) {
	var s log.Snapshot
	err := d.read(ctx, func(r *reader) error {
		t, err := r.room(name)
		if err != nil {
			return err
		}
		row, err := r.one("select seq, hash, data, sum from snapshots where room = ?", t.id)
		if errors.Is(err, errNoRow) {
			return fmt.Errorf("snapshot of room %s: %w", name, log.ErrNotFound)
		}
		if err != nil {
			return err
		}
		var seq int64
		var hash, sum []byte
		ok := get(row[0], &seq) && get(row[1], &hash) && get(row[2], &s.Data) && get(row[3], &sum) && len(hash) == len(s.Hash)
		if ok {
			s.Seq, s.Hash = uint64(seq), [32]byte(hash)
		}
		want := rows.SnapshotSum(&s)
		if !ok || string(want[:]) != string(sum) {
			return fmt.Errorf("%w: %w", log.ErrNotFound, log.Corrupt(name, 0, "its snapshot is damaged"))
		}
		if !d.heads.vouches(name, head{s.Seq, want}) {
			return fmt.Errorf("snapshot of room %s: its digest was not recorded: %w", name, log.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		return log.Snapshot{}, err
	}
	return s, nil
}

// PutBlob implements [log.Blobs].
func (d *DB) PutBlob(ctx context.Context, content []byte) (string, error) {
	digest := log.Digest(content)
	if content == nil {
		content = []byte{}
	}
	err := d.submit(ctx, func(w *writer) error {
		w.pages += 2 + len(content)/4096
		return w.c.exec("insert into blobs(digest, content) values(?, ?) on conflict do nothing", digest, content)
	})
	if err != nil {
		return "", err
	}
	return digest, nil
}

// Blob implements [log.Blobs].
func (d *DB) Blob(ctx context.Context, digest string) ([]byte, error) {
	var content []byte
	err := d.read(ctx, func(r *reader) error {
		row, err := r.one("select content from blobs where digest = ?", digest)
		if errors.Is(err, errNoRow) {
			return fmt.Errorf("blob %.80q: %w", digest, log.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if !get(row[0], &content) || log.Digest(content) != digest {
			return log.Corrupt("", 0, fmt.Sprintf("the content of blob %s has another digest", digest))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Digests implements [log.Blobs]. With an error it returns the digests that could be read.
func (d *DB) Digests(ctx context.Context) (digests []string, err error) {
	err = d.read(ctx, func(r *reader) error {
		digests = nil
		return r.list("select digest from blobs not indexed", func(row []driver.Value) error {
			var digest string
			get(row[0], &digest)
			digests = append(digests, digest)
			return nil
		})
	})
	slices.Sort(digests)
	return digests, err
}
