package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/folkmoot/moot/room/log"
)

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
