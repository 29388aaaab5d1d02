package audit

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rotate sees to it that n more bytes may be written: it begins a new file when
// this one is full, or when another process has done so.
func (l *Log) rotate(n int64) error {
	ours, err := l.f.Stat()
	if err != nil {
		return err
	}
	current, err := os.Stat(l.path)
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
