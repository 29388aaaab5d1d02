package sessions

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/room"
)

// process is a process that runs the sessions of a data folder.
type process struct {
	*Sessions
	host *moot.Host
}

func start(t *testing.T, data, root string) process {
	t.Helper()
	h, err := moot.Open(moot.Config{Data: data, Cache: data + "/cache"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Config{Host: h, Path: filepath.Join(data, "server", "sessions.json"), Settings: config.Settings{
		Server:   config.Server{RootList: root, Agent: "talker"},
		Profiles: []config.Profile{{Name: "talker", Dir: root, Endpoint: json.RawMessage(`{"kind":"scripted","lines":["one","two"]}`)}},
	}})
	if err != nil {
		t.Fatal(errors.Join(err, h.Close()))
	}
	return process{s, h}
}

// end ends the process as `moot serve` does.
func (p process) end(t *testing.T) {
	t.Helper()
	if err := p.host.Stop(); err != nil {
		t.Error(err)
	}
	p.Close()
	if err := p.host.Close(); err != nil {
		t.Error(err)
	}
}

// TestNextProcess checks that sessions go on with the next process, and that one whose
// creator has ended in between ends with it.
func TestNextProcess(t *testing.T) {
	data, root := t.TempDir(), t.TempDir()
	p := start(t, data, root)
	user := Sender{Name: "user", Control: true}
	parent, err := p.Create(t.Context(), user, New{Folder: root, Message: "begin"})
	if err != nil {
		t.Fatal(err)
	}
	child, err := p.Create(t.Context(), Sender{Name: "agent", Room: parent, Seat: seatID}, New{Folder: root})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := p.State(t.Context(), user, parent, time.Minute); err != nil || s.Last == nil || s.Last.Text != "one" {
		t.Fatalf("%+v, %v", s, err)
	}
	p.end(t)

	p = start(t, data, root)
	for _, id := range []string{parent, child} {
		if x, ok := p.find(id); !ok || x.Ended != "" {
			t.Errorf("session %s: %+v", id, x)
		}
	}
	if _, err := p.Post(t.Context(), user, parent, Message{Text: "go on"}); err != nil {
		t.Fatal(err)
	}
	if s, err := p.State(t.Context(), user, parent, time.Minute); err != nil || s.Last == nil || s.Last.Role != "assistant" {
		t.Errorf("%+v, %v", s, err)
	}
	p.Close() // so that nothing sees the end of the parent
	if _, err := p.host.Do(t.Context(), parent, moot.Command{Actor: room.ActorHost, Do: room.Stop{}}); err != nil {
		t.Fatal(err)
	}
	p.end(t)

	p = start(t, data, root)
	for range p.host.Follow(t.Context(), child, 0, room.Internal) { // until it has ended
	}
	if x, _ := p.find(child); x.Ended == "" {
		t.Errorf("the child of a parent that has ended: %+v", x)
	}
	p.end(t)
}
