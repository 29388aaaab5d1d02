package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/internal/atomicfile"
	"github.com/folkmoot/moot/room/log"
)

// Backup writes a copy of the log into dir, an existing folder that holds none. Rooms
// run on meanwhile; the copy is the log of one moment. It is durable when Backup
// returns. Rooms that have lost or changed events have them lost or changed in the
// copy too, and are still named there: damage joins one error for each defect that a
// check of the copy finds. If the structure of the database is damaged, the copy has what
// could be read: the rooms up to their damage. With err there is no copy.
func (d *DB) Backup(ctx context.Context, dir string) (damage, err error) {
	before, err := readHeads(d.heads.path)
	if err != nil {
		return nil, d.fileError("reading "+HeadsName, err)
	}
	_, _ = d.Rooms(ctx) // compares all heads; the check of the copy finds the damage again
	err = d.vacuumInto(filepath.Join(dir, FileName))
	if structure := err; errors.Is(err, log.ErrCorrupt) {
		err = errors.Join(os.RemoveAll(filepath.Join(dir, FileName)), os.RemoveAll(filepath.Join(dir, FileName+"-journal")))
		if err == nil {
			damage, err = d.salvage(ctx, dir)
		}
		damage = errors.Join(structure, damage)
	} else if err == nil {
		err = d.fileError("writing "+HeadsName+" of the copy", keepShort(dir, before, d.heads.rooms()))
	}
	if err != nil {
		return nil, err
	}
	copied, err := Open(Config{Dir: dir}) // makes the heads of the other rooms
	if err != nil {
		return nil, err
	}
	found := copied.Check(ctx)
	if err := errors.Join(copied.Close(), os.Remove(filepath.Join(dir, folderLock)), d.fileError("backing up", atomicfile.SyncDir(dir))); err != nil {
		return nil, err
	}
	if found != nil && !errors.Is(found, log.ErrCorrupt) {
		return nil, found // the copy could not be read
	}
	return errors.Join(damage, found), nil
}

// vacuumInto copies the database, without what was deleted. SQLite gives the copy
// no write-ahead log.
func (d *DB) vacuumInto(path string) error {
	source, err := dial(d.path, "ro")
	if err != nil {
		return d.explain("backing up", err)
	}
	err = source.exec("vacuum into ?", path)
	if err := errors.Join(err, source.Close()); err != nil {
		return d.explain("backing up", err)
	}
	c, err := dial(path, "rw")
	if err != nil {
		return d.explain("backing up", err)
	}
	// Pages are copied as they are, damaged ones too.
	if row, err := c.one("pragma integrity_check(1)"); err != nil || fmt.Sprint(row[0]) != "ok" {
		return errors.Join(d.broken(fmt.Sprintf("backing up: the structure is damaged: %v %v", row, err)), c.Close())
	}
	if err := errors.Join(c.exec("pragma journal_mode=wal"), c.Close(), os.Chmod(path, 0o600)); err != nil {
		return d.fileError("backing up", err)
	}
	return d.fileError("backing up", syncFile(path))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// keepShort writes the heads of rooms that do not reach them into the file of heads
// of dir, so that the copy names them as well.
func keepShort(dir string, heads headSet, rooms []string) error {
	if len(rooms) == 0 {
		return nil
	}
	var b []byte
	for _, room := range rooms {
		if h, ok := heads.heads[room]; ok {
			b = (&headRecord{headKind, room, h}).append(b)
		}
	}
	// A damaged line makes the first writer add the heads of the other rooms.
	return atomicfile.WriteDurable(filepath.Join(dir, HeadsName), append(b, "\nincomplete"...))
}
