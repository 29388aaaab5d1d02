package sqlite

import (
	"errors"
	"fmt"

	"github.com/folkmoot/moot/problem"
)

// applicationID marks the file as ours ("Moot"); SQLite keeps it in the header.
const applicationID = 0x4d6f6f74

// migrations bring a file from version i to version i+1. They are never
// edited, only added to.
//
// events.key is room<<36 | seq: one integer key clusters a room's events and
// is found faster than a pair. proof is hash | salt (48 bytes) and raw what the
// chain commits to; once an event is redacted they are hash | commit | sum of
// the stub (72), and the stub. imported holds the rooms whose log
// was written elsewhere. rooms.sum guards the row against flipped bytes,
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
	create table imported(room integer primary key) strict;
	create table blobs(digest text primary key, content blob not null) strict;`,
	// Logs that were begun before rooms could be imported lack it.
	`create table if not exists imported(room integer primary key) strict;`,
}

// pragmas hold for the connections that write. The writer begins checkpoints itself,
// after it has answered, so that its errors are seen. Secure deletion overwrites what
// was redacted.
var pragmas = []string{
	"_pragma=synchronous(full)", "_pragma=fullfsync(1)", "_pragma=checkpoint_fullfsync(1)",
	"_pragma=wal_autocheckpoint(0)", "_pragma=secure_delete(1)", "_pragma=cache_size(-16384)",
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
	version, err = schemaVersion(c)
	for ; err == nil && version < len(migrations); version++ {
		err = c.exec(migrations[version])
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
			Code: "LOG-FOREIGN", Where: c.path, What: "the file is a database of another program",
			Fix: "choose another folder with --data",
		}
	case version > int64(len(migrations)):
		return 0, &problem.Error{
			Code: "LOG-NEWER", Where: c.path,
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
			Code: "LOG-OLDER", Where: c.path, What: fmt.Sprintf("the log has the old format %d", version),
			Fix: "open it once for writing, for example with `moot run`, which brings it up to date",
		}
	}
	return err
}
