package logtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room/log"
)

// flip damages the stored data while no log is open.
func (f *fixture) flip(needle string) {
	f.t.Helper()
	if f.Flip == nil {
		f.t.Skip("the engine's files cannot be damaged here")
	}
	f.close()
	f.Flip(f.t, f.dir, []byte(needle))
	f.Log, f.closed = f.Open(f.t, f.dir), false
}

func testFlippedBody(t *testing.T, f *fixture) {
	at := log.Pos{}
	for i := range 40 {
		at = f.append("a", at, Event(fmt.Sprint(i), fmt.Sprintf("needle-%d-", i+1)))
	}
	f.fill("b", 10)
	f.flip("needle-17-")
	_, err := log.Verify(f.ctx, f, "a", log.Mark{})
	corrupt(t, err, "a", 17)
	before, err := f.Read(f.ctx, "a", log.Pos{Seq: 10}, 20)
	corrupt(t, err, "a", 17)
	if len(before) != 6 || before[5].Seq != 16 {
		t.Errorf("%d entries before the damage", len(before))
	}
	for _, err = range f.Follow(f.ctx, "a", log.Pos{}) {
		if err != nil {
			break
		}
	}
	corrupt(t, err, "a", 17)
	if page, err := f.Read(f.ctx, "a", log.Pos{}, 16); err != nil || len(page) != 16 {
		t.Errorf("the events before: %d, %v", len(page), err)
	}
	if got := f.all("b"); len(got) != 10 {
		t.Errorf("the other room has %d events", len(got))
	}
	// A redaction does not hide the damage.
	e := Event("16", "").Redacted()
	e.Seq = 17
	corrupt(t, f.Redact(f.ctx, "a", e), "a", 17)
}

func testFlippedBlob(t *testing.T, f *fixture) {
	digest, err := f.PutBlob(f.ctx, []byte("a blob with a needle in it"))
	must(t, err)
	f.flip("a needle in it")
	_, err = f.Blob(f.ctx, digest)
	want(t, err, log.ErrCorrupt)
	if !strings.Contains(err.Error(), digest) {
		t.Errorf("%v does not name the blob", err)
	}
}

// A damaged snapshot reads as a missing one.
func testFlippedSnapshot(t *testing.T, f *fixture) {
	f.fill("a", 3)
	must(t, f.PutSnapshot(f.ctx, "a", log.Snapshot{Seq: 3, Hash: f.all("a")[2].Hash, Data: []byte("a needle in the state")}))
	f.flip("needle in the state")
	_, err := f.Snapshot(f.ctx, "a")
	want(t, err, log.ErrNotFound)
	want(t, err, log.ErrCorrupt)
	_, err = log.Verify(f.ctx, f, "a", log.Mark{})
	must(t, err)
}

func testFlippedStub(t *testing.T, f *fixture) {
	at := f.append("a", log.Pos{}, Event("first", "x"))
	f.append("a", at, Event("needle", "x"), Event("last", "x"))
	must(t, f.Redact(f.ctx, "a", stub(f.all("a")[1])))
	f.flip(`c-needle`) // the command's id: part of the body only
	_, err := f.Read(f.ctx, "a", log.Pos{}, 10)
	corrupt(t, err, "a", 2)
}
