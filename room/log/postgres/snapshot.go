package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// PutSnapshot implements [log.Snapshots]. A snapshot that is not of the room's chain is a
// conflict; one that is older than the stored one is ignored.
func (d *DB) PutSnapshot(ctx context.Context, name string, s log.Snapshot) error {
	sum := rows.SnapshotSum(&s)
	data := s.Data
	if data == nil {
		data = []byte{}
	}
	return d.change(ctx, "keeping a snapshot", func(ctx context.Context) error {
		if _, err := d.tail(ctx, name); err != nil {
			return err
		}
		var proof []byte
		err := d.pool.QueryRow(ctx, "select e.proof from moot_rooms r join moot_events e on e.room = r.id where r.name = $1 and e.seq = $2", name, int64(s.Seq)).Scan(&proof)
		if err != nil && !noRow(err) {
			return err
		}
		if len(proof) < len(s.Hash) || [32]byte(proof) != s.Hash {
			return fmt.Errorf("keeping a snapshot of room %s at %d: %w", name, s.Seq, log.ErrConflict)
		}
		_, err = d.pool.Exec(ctx, `insert into moot_snapshots(room, seq, hash, data, sum)
			select id, cast($2 as bigint), cast($3 as bytea), cast($4 as bytea), cast($5 as bytea) from moot_rooms where name = $1
			on conflict (room) do update set seq = excluded.seq, hash = excluded.hash, data = excluded.data, sum = excluded.sum
			where moot_snapshots.seq <= excluded.seq`, name, int64(s.Seq), s.Hash[:], data, sum[:])
		return err
	})
}

// Snapshot implements [log.Snapshots]. The error of a damaged snapshot is both
// [log.ErrNotFound], because callers can do without it, and [log.ErrCorrupt].
func (d *DB) Snapshot(ctx context.Context, name string) (log.Snapshot, error) {
	var s log.Snapshot
	err := d.read(ctx, func(ctx context.Context) error {
		var seq int64
		var hash, sum []byte
		err := d.pool.QueryRow(ctx, "select s.seq, s.hash, s.data, s.sum from moot_rooms r join moot_snapshots s on s.room = r.id where r.name = $1", name).
			Scan(&seq, &hash, &s.Data, &sum)
		if noRow(err) {
			return fmt.Errorf("snapshot of room %s: %w", name, log.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if len(hash) == len(s.Hash) {
			s.Seq, s.Hash = uint64(seq), [32]byte(hash)
		}
		if want := rows.SnapshotSum(&s); string(want[:]) != string(sum) {
			return fmt.Errorf("%w: %w", log.ErrNotFound, log.Corrupt(name, 0, "its snapshot is damaged"))
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
	err := d.change(ctx, "keeping a blob", func(ctx context.Context) error {
		_, err := d.pool.Exec(ctx, "insert into moot_blobs(digest, content) values($1, $2) on conflict (digest) do nothing", digest, content)
		return err
	})
	if err != nil {
		return "", err
	}
	return digest, nil
}

// Blob implements [log.Blobs].
func (d *DB) Blob(ctx context.Context, digest string) ([]byte, error) {
	var content []byte
	err := d.read(ctx, func(ctx context.Context) error {
		err := d.pool.QueryRow(ctx, "select content from moot_blobs where digest = $1", digest).Scan(&content)
		if noRow(err) {
			return fmt.Errorf("blob %.80q: %w", digest, log.ErrNotFound)
		}
		if err == nil && log.Digest(content) != digest {
			err = log.Corrupt("", 0, fmt.Sprintf("the content of blob %s has another digest", digest))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Digests implements [log.Blobs].
func (d *DB) Digests(ctx context.Context) (digests []string, err error) {
	err = d.read(ctx, func(ctx context.Context) error {
		found, err := d.pool.Query(ctx, "select digest from moot_blobs")
		if err == nil {
			digests, err = pgx.CollectRows(found, pgx.RowTo[string])
		}
		return err
	})
	slices.Sort(digests)
	return digests, err
}
