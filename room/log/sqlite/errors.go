package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// errClosed is the error of every method of a closed handle.
var errClosed = &problem.Error{
	Code: "LOG-CLOSED", What: "the log is closed", Where: "data folder", Fix: "open it again", Kind: log.ErrFailed,
}

// primary returns SQLite's primary result code of err, 0 when it has none.
func primary(err error) int {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// explain turns an error of the engine into one for the user. Errors that are
// explained already, and those of callers, pass unchanged.
func (d *DB) explain(doing string, err error) error {
	code := primary(err)
	if code == 0 {
		return err
	}
	if code == codes.SQLITE_IOERR || code == codes.SQLITE_CANTOPEN {
		code = d.cause(code)
	}
	if code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB || errors.Is(err, errSchema) {
		return d.broken(fmt.Sprintf("%s: %v", doing, err))
	}
	return d.problem(code, fmt.Errorf("%s: %w", doing, err))
}

// problem returns the error of a result code of SQLite for the user.
func (d *DB) problem(code int, cause error) error {
	p := &problem.Error{Where: d.path, Err: cause}
	switch code {
	case codes.SQLITE_FULL:
		p.Code, p.What = "LOG-FULL", "the disk is full"
		p.Fix = "free space on the disk of the data folder, then reopen the room with `moot run --room ROOM`; nothing acknowledged is lost"
	case codes.SQLITE_READONLY, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		p.Code, p.What = "LOG-READONLY", "the data folder cannot be written"
		p.Fix = "make the folder and the files in it writable for you, or choose another with --data"
	case codes.SQLITE_CANTOPEN:
		p.Code, p.What = "LOG-OPEN", "the log cannot be opened"
		p.Fix = "check that the data folder exists and that you may read and write it"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		p.Code, p.What = "LOG-BUSY", "another process kept the log locked for too long"
		p.Fix = "look for a moot or a backup that holds the data folder, then try again"
		p.Kind = errors.Join(log.ErrUnknown, log.ErrBusy)
	case codes.SQLITE_IOERR:
		p.Code, p.What = "LOG-IO", "the disk reported an error"
		p.Fix = "check the disk (dmesg, SMART), then reopen the room with `moot run --room ROOM`; nothing acknowledged is lost"
	default:
		p.Code, p.What = "LOG-ENGINE", "the storage engine failed"
		p.Fix = "reopen the room; if it happens again, report it with the output of `moot doctor`"
	}
	return p
}

// cause finds the cause of an error that SQLite reports as an input and output
// error. Where SQLite creates files itself, it does not distinguish a full or
// read-only folder from a bad disk.
func (d *DB) cause(code int) int {
	f, err := os.CreateTemp(d.dir, FileName+".probe-*")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	switch {
	case isFull(err):
		return codes.SQLITE_FULL
	case isReadOnly(err), errors.Is(err, fs.ErrPermission):
		return codes.SQLITE_READONLY
	}
	return code
}

// broken reports damage of the file itself, where no room is to blame.
func (d *DB) broken(why string) error {
	err := log.Corrupt("", 0, why)
	if p, ok := errors.AsType[*problem.Error](err); ok {
		p.Where = d.path
	}
	return err
}

// failure wraps the error after which a handle acknowledges nothing more. The result
// is no [log.ErrUnknown], because another attempt fails too.
func failure(err error) error {
	p := &problem.Error{
		Code: "LOG-FAILED", What: "writing the log failed", Where: "data folder",
		Fix: "check the disk, then reopen the room with `moot run --room ROOM`; nothing acknowledged is lost",
	}
	if q, ok := errors.AsType[*problem.Error](err); ok {
		if errors.Is(q, log.ErrUnknown) {
			err = q.Err
		} else {
			*p = *q
		}
	}
	p.Err = fmt.Errorf("%w: %w", log.ErrFailed, err)
	return p
}
