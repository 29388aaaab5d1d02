package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/rows"
)

// HoldWriteLock takes the lock that a transaction needs to write, as another
// program could, until release is called.
func HoldWriteLock(t testing.TB, dir string) (release func()) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.exec("begin immediate"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := c.exec("rollback"); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// HoldRead reads, as another process could, and keeps its view of the log until
// release is called.
func HoldRead(t testing.TB, dir string) (release func()) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "ro")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.exec("begin"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.one("select count(*) from events"); err != nil {
		t.Fatal(err)
	}
	return func() { c.Close() }
}

// SetVersion gives a log another schema version, or makes it another
// program's.
func SetVersion(t testing.TB, dir string, application, version int) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, sql := range []string{fmt.Sprintf("pragma application_id=%d", application), fmt.Sprintf("pragma user_version=%d", version)} {
		if err := c.exec(sql); err != nil {
			t.Fatal(err)
		}
	}
}

// Age makes a log one that was begun before rooms could be imported.
func Age(t testing.TB, dir string) {
	t.Helper()
	SetVersion(t, dir, applicationID, 1)
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.exec("drop table imported"); err != nil {
		t.Fatal(err)
	}
}

// ForgeSnapshot replaces the content of a room's snapshot, with the checksum that
// belongs to it.
func ForgeSnapshot(t testing.TB, dir, room string, s log.Snapshot) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sum := rows.SnapshotSum(&s)
	if err := c.exec("update snapshots set data = ?, sum = ? where room = (select id from rooms where name = ?)", s.Data, sum[:], room); err != nil {
		t.Fatal(err)
	}
}

// DeleteEvent deletes the row of an event.
func DeleteEvent(t testing.TB, dir, room string, seq int) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.exec("delete from events where key = (select id from rooms where name = ?) << 36 | ?", room, int64(seq)); err != nil {
		t.Fatal(err)
	}
}

// ApplicationID marks a log as ours.
const ApplicationID = applicationID

// RewriteHeads writes the file of heads again, as the writer does when it has
// grown too long.
func RewriteHeads(d *DB) error {
	return d.submit(context.Background(), func(w *writer) error {
		w.d.heads.most = 0
		w.changed = append(w.changed, &tail{removed: true})
		return nil
	})
}

// BusyRewrite makes the writer write the file of heads again, and takes the lock that
// this needs, as another program could, between the commit and that.
func BusyRewrite(t testing.TB, d *DB) (release func(), err error) {
	err = d.submit(context.Background(), func(w *writer) error {
		w.d.heads.most = 0
		w.changed = append(w.changed, &tail{removed: true})
		commit := w.commit
		w.commit = &statement{afterExec{commit.stmt, func() {
			w.commit, release = commit, HoldWriteLock(t, d.dir)
		}}}
		return nil
	})
	return release, err
}

// An afterExec is a statement that calls a function after it was executed.
type afterExec struct {
	driver.Stmt
	after func()
}

func (a afterExec) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := a.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	a.after()
	return result, err
}

// LimitHeads makes the writer write the file of heads again from that size on.
func LimitHeads(d *DB, size int64) {
	if err := d.submit(context.Background(), func(w *writer) error {
		w.d.heads.least, w.d.heads.most = size, size
		return nil
	}); err != nil {
		panic(err)
	}
}

// HeadsIn returns the numbers of the heads in a file, by room.
func HeadsIn(b []byte) map[string]uint64 {
	last := map[string]uint64{}
	for room, h := range parseHeads(b).heads {
		last[room] = h.seq
	}
	return last
}

// AppendHead adds the record of a head to a file.
func AppendHead(b []byte, room string, seq uint64) []byte {
	return (&headRecord{headKind, room, head{seq: seq}}).append(b)
}

// LateHead returns a function that writes the head of a room as it is now, as the
// writer does some time after its commit.
func LateHead(d *DB, name string) (write func() error, err error) {
	var t tail
	err = d.submit(context.Background(), func(w *writer) error {
		known, err := w.room(name)
		if err == nil {
			t = *known
		}
		return err
	})
	return func() error {
		return d.submit(context.Background(), func(w *writer) error { return w.keepHeads([]*tail{&t}) })
	}, err
}

// Exec changes the file, as a fault of the disk could.
func Exec(t testing.TB, dir, sql string) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.exec(sql); err != nil {
		t.Fatal(err)
	}
}

// Version returns the version of the schema.
func Version(t testing.TB, dir string) int64 {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), "ro")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	version, err := integer(c.one("pragma user_version"))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// KnownTails returns of how many rooms the writer keeps the end of the log.
func KnownTails(t testing.TB, d *DB) (n int) {
	t.Helper()
	err := d.submit(context.Background(), func(w *writer) error {
		n = len(w.known)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// SpareTails is how many of them may be of rooms that are not locked.
const SpareTails = spareTails

// MaxSnapshots is how many digests of snapshots a handle keeps.
const MaxSnapshots = maxSnapshots

// KeepSnapshots records n snapshots in a file of heads. It returns how many of them are kept in
// memory, and how many of the first and the last 50 the file vouches for.
func KeepSnapshots(t testing.TB, path string, n int) (kept, vouched int) {
	t.Helper()
	h := headFile{path: path}
	if _, err := h.load(); err != nil {
		t.Fatal(err)
	}
	if err := h.open(); err != nil {
		t.Fatal(err)
	}
	defer h.close()
	of := func(i int) headRecord {
		return headRecord{snapshotKind, fmt.Sprint("room ", i), head{seq: uint64(i + 1)}}
	}
	for i := range n {
		if err := h.append(of(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		for _, r := range []headRecord{of(i), of(n - 1 - i)} {
			if h.vouches(r.room, r.head) && !h.vouches(r.room, head{seq: r.seq + 1}) {
				vouched++
			}
		}
	}
	return len(h.snapshots), vouched
}
