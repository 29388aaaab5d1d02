package sqlite_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/sqlite"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	d, err := sqlite.Open(sqlite.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ev := func(id string) room.Event {
		return room.Event{V: 1, ID: id, Actor: "room", Body: room.MessagePosted{Message: room.Message{Text: id}}}
	}
	p, dup, err := d.Append(ctx, "a", log.Pos{}, time.Time{}, ev("1"), ev("2"))
	t.Log(p, dup, err)
	p, dup, err = d.Append(ctx, "a", log.Pos{}, time.Time{}, ev("1"), ev("2"))
	t.Log(p, dup, err)
	_, _, err = d.Append(ctx, "a", p, time.Time{}, ev("2"))
	t.Log(err, errors.Is(err, log.ErrConflict))
	p, dup, err = d.Append(ctx, "a", p, time.Time{}, ev("3"))
	t.Log(p, dup, err)
	es, err := d.Read(ctx, "a", log.Pos{}, 0)
	t.Log(len(es), err)
	if err := d.Redact(ctx, "a", es[1].Event.Redacted()); err != nil {
		t.Fatal(err)
	}
	m, err := log.Verify(ctx, d, "a", log.Mark{})
	t.Log(m.Seq, err)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	ro, err := sqlite.Open(sqlite.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	es, err = ro.Read(ctx, "a", log.Pos{}, 0)
	t.Log(len(es), err)
	t.Log(ro.Close())
}
