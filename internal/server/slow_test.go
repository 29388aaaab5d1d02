package server_test

import (
	"encoding/json"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/room"
)

// TestStalledReaders lets a room run while three readers, one of each form, read
// nothing.
func TestStalledReaders(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	for _, form := range forms {
		defer x.subscribe(form, "control", "/api/rooms/"+id+"/events").close()
	}
	x.command(id, api.Command{Do: "resume"})
	for _, err := range x.Watch(t.Context(), id, 0, room.Internal) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if v, err := x.View(t.Context(), id, room.Internal); err != nil || v.Turn != 3 {
		t.Errorf("the room has had %d turns: %v", v.Turn, err)
	}
}

// TestServerEnds checks that the end of the Host ends streams so that readers know
// that they can resume.
func TestServerEnds(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	readers := make([]reader, len(forms))
	for i, form := range forms {
		readers[i] = x.subscribe(form, "control", "/api/rooms/"+id+"/events")
		defer readers[i].close()
		if _, err := readers[i].next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Stop(); err != nil {
		t.Fatal(err)
	}
	for i, form := range forms {
		var last string
		for {
			line, err := readers[i].next()
			if err != nil {
				break
			}
			last = line
		}
		var u api.Update
		if err := json.Unmarshal([]byte(last), &u); err != nil || u.End == nil || u.End.Code != api.EndServer {
			t.Errorf("%s ends with %s", form, last)
		}
	}
}
