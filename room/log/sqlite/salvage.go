package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
)

// salvage copies what can be read of a database whose structure is damaged into dir: rooms
// one by one, each up to its damage, blobs and charges. damage joins one error for each
// defect. Rooms that are not copied whole are named in the copy too: their heads are
// kept. Damaged snapshots are left out, because they are made again.
func (d *DB) salvage(ctx context.Context, dir string) (damage, err error) {
	infos, damage := d.Rooms(ctx)
	heads, err := readHeads(d.heads.path)
	if err != nil {
		return nil, d.fileError("reading "+HeadsName, err)
	}
	copied, err := Open(Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	for name := range heads.heads {
		if !slices.ContainsFunc(infos, func(i log.Info) bool { return i.Room == name }) {
			infos = append(infos, log.Info{Room: name})
		}
	}
	var lost []byte
	for _, info := range infos {
		defect, err := d.copyRoom(ctx, copied, info)
		if err != nil {
			return nil, errors.Join(err, copied.Close())
		}
		if h, ok := heads.heads[info.Room]; ok && defect != nil {
			lost = (&headRecord{headKind, info.Room, h}).append(lost)
		}
		damage = errors.Join(damage, defect)
	}
	defects, err := d.copyOthers(ctx, copied)
	if err := errors.Join(err, copied.Close()); err != nil {
		return nil, err
	}
	return errors.Join(damage, defects), d.fileError("writing "+HeadsName+" of the copy", appendDurable(filepath.Join(dir, HeadsName), lost))
}

// copyRoom copies a room up to its damage, which defect is. With err the copy cannot be
// written.
func (d *DB) copyRoom(ctx context.Context, to *DB, info log.Info) (defect, err error) {
	var entries []log.Entry
	for e, err := range log.Scan(ctx, d, info.Room, log.Pos{}) {
		if err != nil {
			defect = err
			break
		}
		entries = append(entries, e)
	}
	if defect != nil && !errors.Is(defect, log.ErrCorrupt) && !errors.Is(defect, log.ErrNotFound) {
		return nil, defect
	}
	if len(entries) == 0 {
		return defect, nil
	}
	imported, marked := d.Imported(ctx, info.Room)
	err = to.PutBack(ctx, info.Room, entries, info.Wake, imported || marked != nil)
	s, unread := d.Snapshot(ctx, info.Room)
	switch {
	case errors.Is(unread, log.ErrNotFound):
		unread = nil
	case unread == nil && err == nil && defect == nil:
		err = to.PutSnapshot(ctx, info.Room, s)
	}
	return errors.Join(defect, marked, unread), err
}

// copyOthers copies blobs and charges.
func (d *DB) copyOthers(ctx context.Context, to *DB) (defects, err error) {
	digests, defects := d.Digests(ctx)
	var charges []room.BudgetCharge
	defects = errors.Join(defects, d.read(ctx, func(r *reader) error {
		has, err := r.hasCharges()
		if err != nil || !has {
			return err
		}
		return r.list("select "+columnsOfCharge+" from charges not indexed", func(row []driver.Value) error {
			c, err := scanCharge(row)
			if err == nil {
				charges = append(charges, c)
			}
			return err
		})
	}))
	for _, digest := range digests {
		content, unread := d.Blob(ctx, digest)
		if unread != nil {
			defects = errors.Join(defects, unread)
			continue
		}
		if _, err := to.PutBlob(ctx, content); err != nil {
			return nil, err
		}
	}
	return defects, to.submit(ctx, func(w *writer) error {
		if len(charges) == 0 {
			return nil
		}
		if err := w.c.exec(chargesTable); err != nil {
			return err
		}
		for i := range charges {
			if err := w.c.exec(insertCharge+" on conflict do nothing", chargeValues(&charges[i])...); err != nil {
				return fmt.Errorf("copying a charge: %w", err)
			}
		}
		return nil
	})
}

// appendDurable writes b to the end of a file and makes it durable.
func appendDurable(path string, b []byte) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return atomicfile.WriteDurable(path, append(old, b...))
}
