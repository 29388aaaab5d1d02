//go:build unix

package postgres_test

import (
	"testing"

	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/logtest"
	"github.com/folkmoot/moot/room/log/postgres/pgtest"
)

// TestRestore moves a room with a redacted event from one log into another. Its chain stays
// the one it had.
func TestRestore(t *testing.T) {
	s := pgtest.Start(t)
	from, to := open(t, s, "restored_from"), open(t, s, "restored_to")
	defer from.Close()
	defer to.Close()
	if _, _, err := from.Append(t.Context(), "a", log.Pos{}, never, logtest.Events("e", 1200)...); err != nil {
		t.Fatal(err)
	}
	entries, err := from.Read(t.Context(), "a", log.Pos{}, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if err := from.Redact(t.Context(), "a", entries[6].Event.Redacted()); err != nil {
		t.Fatal(err)
	}
	if entries, err = from.Read(t.Context(), "a", log.Pos{}, 2000); err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(t.Context(), "a", entries); err != nil {
		t.Fatal(err)
	}
	tail, err := log.Verify(t.Context(), to, "a", log.Mark{})
	if err != nil || tail.Seq != 1200 || tail.Hash != entries[1199].Hash {
		t.Errorf("the restored room ends at %d, %v", tail.Seq, err)
	}
	one, errOne := from.Imported(t.Context(), "a")
	other, errOther := to.Imported(t.Context(), "a")
	if one || !other || errOne != nil || errOther != nil {
		t.Errorf("imported: %v, %v; %v, %v", one, other, errOne, errOther)
	}
	want(t, to.Restore(t.Context(), "a", entries), log.ErrConflict)
	entries[3].Raw = append([]byte{}, "other"...)
	want(t, to.Restore(t.Context(), "b", entries), log.ErrCorrupt)
	if infos, err := to.Rooms(t.Context()); err != nil || len(infos) != 1 {
		t.Errorf("%d rooms, %v", len(infos), err)
	}
}
