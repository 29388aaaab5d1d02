package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room/log"
)

// Codes of errors of the server; see appendix A of its manual.
const (
	uniqueViolation     = "23505"
	undefinedTable      = "42P01"
	unknownSetting      = "42704"
	readOnlyTransaction = "25006"
	diskFull            = "53100"
	serverStarts        = "57P03"
)

// errClosed is the error of every method of a closed handle.
var errClosed = &problem.Error{
	Code: "LOG-CLOSED", What: "the log is closed", Where: "database", Fix: "open it again", Kind: log.ErrFailed,
}

// hasCode reports whether err is one of the server with one of codes.
func hasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, e.Code)
}

// unreachable reports whether no connection could be made, and the server may be back soon.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return false
	}
	if _, refused := errors.AsType[*problem.Error](err); refused {
		return false
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || e.Code == serverStarts || strings.HasPrefix(e.Code, "53") || cutOff(e)
}

// cutOff reports whether an error of the server leaves the outcome of a call open, or the
// call can be made again: connections that end, and transactions that met another one.
func cutOff(e *pgconn.PgError) bool {
	return strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "40")
}

// explain turns an error of the driver into one for the user. Errors that are explained
// already, and those of callers, pass unchanged. The outcome of a call whose connection
// broke is [log.ErrUnknown].
func (d *DB) explain(doing string, err error) error {
	if err == nil || errors.Is(err, log.ErrConflict) || errors.Is(err, log.ErrNotFound) || errors.Is(err, log.ErrCorrupt) {
		return err
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	cause := fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, log.ErrUnknown) {
		return cause
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", log.ErrUnknown, cause)
	}
	p := &problem.Error{Where: d.where, Err: cause}
	e, answered := errors.AsType[*pgconn.PgError](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case connecting && (unreachable(err) || !answered):
		p.Code, p.What, p.Kind = "LOG-SERVER", "the database server cannot be reached", errors.Join(log.ErrUnknown, log.ErrBusy)
		p.Fix = "check that it runs and that the URL of log.url is right; rooms go on when it is back, and nothing acknowledged is lost"
	case connecting:
		p.Code, p.What = "LOG-OPEN", "the database server refuses the connection"
		p.Fix = "check user, password and database of the setting log.url; the password may be in ~/.pgpass or PGPASSWORD"
	case !answered, cutOff(e):
		p.Code, p.What, p.Kind = "LOG-SERVER", "the connection to the database server broke", log.ErrUnknown
		p.Fix = "check the server and the network; nothing acknowledged is lost"
	case e.Code == readOnlyTransaction:
		p.Code, p.What, p.Kind = "LOG-READONLY", "the database server takes no writes: it is a standby", errors.Join(log.ErrUnknown, log.ErrBusy)
		p.Fix = "name the primary in log.url, or all servers and target_session_attrs=read-write"
	case e.Code == diskFull:
		p.Code, p.What = "LOG-FULL", "the disk of the database server is full"
		p.Fix = "free space there, then reopen the room with `moot run --room ROOM`; nothing acknowledged is lost"
	case strings.HasPrefix(e.Code, "XX"):
		return d.broken(cause.Error())
	case strings.HasPrefix(e.Code, "58"):
		p.Code, p.What = "LOG-IO", "the database server reported an error of its disk"
		p.Fix = "check that disk, then reopen the room with `moot run --room ROOM`; nothing acknowledged is lost"
	case e.Code == "42501":
		p.Code, p.What = "LOG-OPEN", "the user may not use the tables of moot"
		p.Fix = "let the user own them, or grant it all rights on them, and create on the schema"
	default:
		p.Code, p.What = "LOG-ENGINE", "the storage engine failed"
		p.Fix = "reopen the room; if it happens again, report it with the output of `moot doctor`"
	}
	return p
}

// broken reports damage of the database, where no room is to blame.
func (d *DB) broken(why string) error {
	err := log.Corrupt("", 0, why)
	if p, ok := errors.AsType[*problem.Error](err); ok {
		p.Where = d.where
	}
	return err
}

func (d *DB) readOnlyError() error {
	return &problem.Error{Code: "LOG-READONLY", What: "the log was opened for reading only", Where: d.where, Kind: log.ErrFailed, Fix: "open it for writing"}
}

// noRow reports whether a query that should yield a row yielded none.
func noRow(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
