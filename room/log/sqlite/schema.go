package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/folkmoot/moot/internal/problem"
	"github.com/folkmoot/moot/room/log"
)

// applicationID marks the file as ours ("Moot"); SQLite keeps it in the header.
const applicationID = 0x4d6f6f74

// migrations bring a file from version i to version i+1. They are never
// edited, only added to.
//
// events.key is room<<36 | seq: one integer key clusters a room's events and
// is found faster than a pair. proof is hash | salt (48 bytes) and raw what the
// chain commits to; once an event is redacted they are hash | commit | sum of
// the stub (72), and the stub. rooms.sum guards the row against flipped bytes,
// as the chain guards events. events_id begins with the id, not the room: ids
// of one moment are neighbours, so that appends of many rooms change fewer
// pages. Times are Unix nanoseconds.
var migrations = []string{
	`create table rooms(
		id integer primary key, name text not null unique, last integer not null, hash blob not null,
		updated integer not null, wake integer, bytes integer not null, sum blob not null) strict;
	create index rooms_wake on rooms(wake) where wake is not null;
	create table events(key integer primary key, id text not null, proof blob not null, raw blob not null) strict;
	create unique index events_id on events(id, key >> 36);
	create table snapshots(room integer primary key, seq integer not null, hash blob not null, data blob not null, sum blob not null) strict;
	create table blobs(digest text primary key, content blob not null) strict;`,
}

// pragmas hold for the connection that writes. The checkpoint is run by the
// writer itself, after it has answered, so that it delays no append and its
// errors are seen. Secure deletion overwrites what was redacted.
var pragmas = []string{
	"_pragma=synchronous(full)", "_pragma=fullfsync(1)", "_pragma=checkpoint_fullfsync(1)",
	"_pragma=wal_autocheckpoint(0)", "_pragma=secure_delete(1)", "_pragma=cache_size(-16384)",
}

// prepareFiles makes folder and file where they are missing.
func (d *DB) prepareFiles() error {
	if err := makeDir(d.dir); err != nil {
		return d.folderError(err)
	}
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.create(); err == nil {
			info, err = os.Stat(d.path)
		}
	}
	if err != nil {
		return d.folderError(err)
	}
	return d.checkFile(info)
}

// checkFile refuses what cannot be a whole log before SQLite would take an
// empty file for a new database.
func (d *DB) checkFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &problem.Error{Code: "LOG-OPEN", What: "the log is not a file", Where: d.path, Fix: "choose another folder with --data"}
	}
	if info.Size() < 512 {
		return d.broken(fmt.Sprintf("the file has been cut to %d bytes", info.Size()))
	}
	if !d.readOnly && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(d.path, 0o600); err != nil {
			return d.folderError(err)
		}
	}
	return nil
}

// checkReadable is prepareFiles for a handle that may not write.
func (d *DB) checkReadable() error {
	info, err := os.Stat(d.path)
	if err != nil {
		return d.folderError(err)
	}
	return d.checkFile(info)
}

// emptyFile says whether a file is missing or has no content.
func emptyFile(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// create makes a whole, empty log under another name and then gives it its
// own, so that a file of that name is never half a log. When two processes do
// so at once one of the two files wins.
func (d *DB) create() error {
	temp, err := os.CreateTemp(d.dir, FileName+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			os.Remove(temp.Name() + suffix) // best effort: only the name is left over
		}
	}()
	if err := temp.Close(); err != nil {
		return err
	}
	c, err := dial(temp.Name(), "rw")
	if err != nil {
		return err
	}
	if err := errors.Join(layOut(c), c.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), d.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(d.dir)
}

// layOut turns an empty file into an empty log.
func layOut(c *conn) error {
	for _, sql := range []string{
		"pragma synchronous=full", "pragma fullfsync=1",
		fmt.Sprintf("pragma application_id=%d", applicationID), "pragma journal_mode=wal",
	} {
		if err := c.exec(sql); err != nil {
			return err
		}
	}
	return migrate(c)
}

// migrate brings the schema up to date. Two processes may do so at once: the
// second waits for the first and finds nothing left to do.
func migrate(c *conn) error {
	version, err := schemaVersion(c)
	if err != nil || version == len(migrations) {
		return err
	}
	if err := c.exec("begin immediate"); err != nil {
		return err
	}
	if version, err = schemaVersion(c); err == nil {
		for ; err == nil && version < len(migrations); version++ {
			err = c.exec(migrations[version])
		}
	}
	if err == nil {
		err = c.exec(fmt.Sprintf("pragma user_version=%d", len(migrations)))
	}
	if err == nil {
		return c.exec("commit")
	}
	return errors.Join(err, c.exec("rollback"))
}

// schemaVersion returns the version of the file's schema and refuses a file
// that is newer than this release or not ours.
func schemaVersion(c *conn) (int, error) {
	id, err := integer(c.one("pragma application_id"))
	if err != nil {
		return 0, err
	}
	version, err := integer(c.one("pragma user_version"))
	if err != nil {
		return 0, err
	}
	switch {
	case id != applicationID:
		return 0, &problem.Error{
			Code: "LOG-FOREIGN", What: "the file is a database of another program",
			Fix: "choose another folder with --data",
		}
	case version > int64(len(migrations)):
		return 0, &problem.Error{
			Code: "LOG-NEWER",
			What: fmt.Sprintf("the log has format %d and this release knows formats up to %d", version, len(migrations)),
			Fix:  "use the release of moot that wrote it, or a newer one",
		}
	}
	return int(version), nil
}

// checkVersion is migrate for a handle that may not write.
func checkVersion(c *conn) error {
	version, err := schemaVersion(c)
	if err == nil && version < len(migrations) {
		err = &problem.Error{
			Code: "LOG-OLDER", What: fmt.Sprintf("the log has the old format %d", version),
			Fix: "open it once for writing, for example with `moot run`, which brings it up to date",
		}
	}
	return err
}

// makeDir makes the data folder, for the user alone, and makes its entry
// durable. A folder that exists keeps its mode.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the entries of a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// folderError says what is wrong with the data folder.
func (d *DB) folderError(err error) error {
	if primary(err) != 0 {
		return d.explain("making the log", err)
	}
	if _, ok := errors.AsType[*problem.Error](err); ok {
		return err
	}
	p := &problem.Error{
		Code: "LOG-OPEN", What: "the data folder cannot be used", Where: d.dir, Err: err,
		Fix: "check that the path is right and that you may write there, or choose another folder with --data",
	}
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		p.Code = "LOG-READONLY"
	case isFull(err):
		p.Code, p.Fix = "LOG-FULL", "free space on the disk of the data folder"
	case errors.Is(err, fs.ErrNotExist) && d.readOnly:
		p.Code, p.What, p.Err = "LOG-NONE", "there is no log in the data folder", log.ErrNotFound
		p.Fix = "run a room first, or choose the folder with --data"
	}
	return p
}
