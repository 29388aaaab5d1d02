package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/internal/access"
	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/client"
	"github.com/folkmoot/moot/internal/server"
	"github.com/folkmoot/moot/room"
)

// TestMessages checks which messages a caller reads, and how it goes on reading.
func TestMessages(t *testing.T) {
	var caller server.Caller
	r, c := hosted(t, func(*http.Request) (server.Caller, error) { return caller, nil })
	say := func(text, to string, v room.Visibility) {
		if _, err := r.Do(t.Context(), moot.Command{Actor: "ann", Do: room.Say{Text: text, To: to, Visibility: v}}); err != nil {
			t.Fatal(err)
		}
	}
	say("one", "", "")
	say("two", "bot", room.Internal)
	say("three", "", "")
	for _, x := range []struct {
		who  server.Caller
		want []string
	}{
		{server.Caller{Name: "reader", Scope: access.Read}, []string{"one", "three"}},
		{server.Caller{Name: "bot", Scope: access.Talk, Room: r.ID(), Seat: "bot"}, []string{"one", "two", "three"}},
		{server.Caller{Name: "other", Scope: access.Talk, Room: r.ID(), Seat: "other"}, []string{"one", "three"}},
		{server.Caller{Name: "host", Scope: access.Control}, []string{"one", "two", "three"}},
	} {
		caller = x.who
		for _, limit := range []int{1, 2, 100} {
			if got := read(t, c, r.ID(), limit); !slices.Equal(got, x.want) {
				t.Errorf("%s reads %q with the limit %d, want %q", x.who.Name, got, limit, x.want)
			}
		}
	}
	var m api.Messages
	if err := c.Call(t.Context(), http.MethodGet, "/api/rooms/"+r.ID()+"/messages?after=100000", nil, &m); err != nil || m.Next != 100000 || len(m.Messages) > 0 {
		t.Errorf("behind the end: %+v, %v", m, err)
	}
	if got := codeOf(c.Call(t.Context(), http.MethodGet, "/api/rooms/r_none/messages", nil, nil)); got != "ROOM-UNKNOWN" {
		t.Errorf("a room that is not there: %s", got)
	}
}

// read reads all messages, limit in one answer.
func read(t *testing.T, c *client.Client, id string, limit int) (texts []string) {
	t.Helper()
	for m := (api.Messages{More: true}); m.More; {
		path := fmt.Sprintf("/api/rooms/%s/messages?after=%d&limit=%d", id, m.Next, limit)
		m = api.Messages{}
		if err := c.Call(t.Context(), http.MethodGet, path, nil, &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Messages) > limit {
			t.Errorf("%d messages with the limit %d", len(m.Messages), limit)
		}
		for _, x := range m.Messages {
			texts = append(texts, x.Text)
		}
	}
	return texts
}
