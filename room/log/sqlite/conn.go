package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// A conn is one connection to the database file, used by one goroutine at a
// time. It speaks to the driver itself: database/sql copies every column once
// more and locks for every statement, which doubled the time of a read.
type conn struct {
	driver.Conn
	path string
	open []*statement
}

// A statement is prepared once and used until its connection closes.
type statement struct{ stmt driver.Stmt }

// Times that a connection waits for the lock of another, in milliseconds. The
// writer waits less, because its caller is told that the log is busy, and tries
// again.
const (
	busyTimeout   = 10_000
	writerTimeout = 2_000
)

// dial opens the file at path. mode is rw, ro or rwc; more is further
// parameters of the address.
func dial(path, mode string, more ...string) (*conn, error) {
	query := "?mode=" + mode + fmt.Sprintf("&_pragma=busy_timeout(%d)", busyTimeout) + "&_pragma=cell_size_check(1)&_pragma=trusted_schema(0)"
	for _, m := range more {
		query += "&" + m
	}
	address := url.URL{Scheme: "file", Path: path}
	c, err := new(engine.Driver).Open(address.String() + query)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, path: path}, nil
}

// errSchema is the cause when a table or a column of our statements is missing. Versions
// of the schema are compared before.
var errSchema = errors.New("the schema is damaged")

// Prepare implements [driver.Conn].
func (c *conn) Prepare(sql string) (driver.Stmt, error) {
	s, err := c.Conn.Prepare(sql)
	if primary(err) == codes.SQLITE_ERROR {
		err = errors.Join(errSchema, err)
	}
	return s, err
}

// prepare adds a statement to the connection.
func (c *conn) prepare(sql string) (*statement, error) {
	s, err := c.Prepare(sql)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", sql, err)
	}
	st := &statement{s}
	c.open = append(c.open, st)
	return st, nil
}

// prepareAll prepares several statements.
func (c *conn) prepareAll(statements []prepared) (err error) {
	for _, p := range statements {
		if *p.to, err = c.prepare(p.sql); err != nil {
			return err
		}
	}
	return nil
}

// prepared says where the statement of sql is kept.
type prepared struct {
	to  **statement
	sql string
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var first error
	for _, s := range c.open {
		first = errors.Join(first, s.stmt.Close())
	}
	return errors.Join(first, c.Conn.Close())
}

// exec runs sql once, with its arguments.
func (c *conn) exec(sql string, args ...driver.Value) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	return errors.Join((&statement{s}).exec(args...), s.Close())
}

// one runs sql once and returns its first row.
func (c *conn) one(sql string, args ...driver.Value) ([]driver.Value, error) {
	s, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	row, err := (&statement{s}).one(args...)
	return row, errors.Join(err, s.Close())
}

// exec runs the statement to its end.
func (s *statement) exec(args ...driver.Value) error {
	_, err := s.stmt.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	return err
}

// errNoRow reports that a query that should yield a row yielded none.
var errNoRow = errors.New("no row")

// one returns the first row, or errNoRow.
func (s *statement) one(args ...driver.Value) ([]driver.Value, error) {
	var row []driver.Value
	err := s.each(func(r []driver.Value) error {
		row = append(row, r...)
		return io.EOF
	}, args...)
	if err == nil && row == nil {
		err = errNoRow
	}
	return row, err
}

// each calls f for every row. The slice is reused from row to row, what is in
// it is not. f ends the query early with io.EOF.
func (s *statement) each(f func([]driver.Value) error, args ...driver.Value) (err error) {
	rows, err := s.stmt.(driver.StmtQueryContext).QueryContext(context.Background(), named(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err = rows.Next(row); err == nil {
			err = f(row)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}
