package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/folkmoot/moot/internal/api"
)

// forms are the forms of a stream, by the header Accept; WebSocket has none.
var forms = []string{"application/x-ndjson", "text/event-stream", "websocket"}

// A reader reads the updates of a stream of any form.
type reader struct {
	next  func() (string, error) // one line, without its form
	close func()
}

// subscribe opens a stream of the form for a scope.
func (x *fixture) subscribe(form, scope, path string, header ...string) reader {
	x.t.Helper()
	if form == "websocket" {
		h := http.Header{"Test-Scope": {scope}}
		ws, resp, err := websocket.DefaultDialer.DialContext(x.t.Context(), "ws"+strings.TrimPrefix(x.web.URL, "http")+path, h)
		if err != nil {
			x.t.Fatal(err, resp)
		}
		return reader{func() (string, error) {
			kind, b, err := ws.ReadMessage()
			if err == nil && kind != websocket.TextMessage {
				err = fmt.Errorf("a message of kind %d", kind)
			}
			return string(b), err
		}, func() { ws.Close() }}
	}
	resp := x.open(http.MethodGet, path, nil, append(header, "Accept", form, "Test-Scope", scope)...)
	if media := resp.Header.Get("Content-Type"); !strings.HasPrefix(media, strings.TrimSuffix(form, "*/*")) {
		x.t.Fatalf("%s: a stream of %s", path, media)
	}
	lines := bufio.NewReader(resp.Body)
	id := ""
	return reader{func() (string, error) {
		for {
			line, err := lines.ReadString('\n')
			line = strings.TrimSuffix(line, "\n")
			data, isData := strings.CutPrefix(line, "data: ")
			switch {
			case err != nil:
				return "", err
			case strings.HasPrefix(line, "id: "):
				id = line[4:]
			case isData:
				if strings.HasPrefix(data, `{"event":`) && !strings.Contains(data, `"seq":`+id+",") {
					return "", fmt.Errorf("id %s is that of %s", id, data)
				}
				return data, nil
			case strings.HasPrefix(line, "{"):
				return line, nil
			}
		}
	}, func() { resp.Body.Close() }}
}

// read returns the lines of a stream in the form "", which is JSON lines, to its end.
func (x *fixture) read(form, path, scope string) []string {
	x.t.Helper()
	if form == "" {
		form = forms[0]
	}
	r := x.subscribe(form, scope, path)
	defer r.close()
	var lines []string
	for {
		line, err := r.next()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure) || err == io.EOF {
			return lines
		}
		if err != nil {
			x.t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

// eventsOf returns the events among the lines of a stream.
func eventsOf(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, `{"event":`) })
}

// endOf returns the end of a stream.
func endOf(t *testing.T, lines []string) api.End {
	t.Helper()
	var u api.Update
	if len(lines) == 0 {
		t.Fatal("the stream is empty")
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &u); err != nil || u.End == nil {
		t.Fatalf("the stream ends with %s", lines[len(lines)-1])
	}
	return *u.End
}

// TestForms checks that the three forms of a stream yield the same events, while the
// room runs and afterwards, that a stream ends with the room, and that it resumes.
func TestForms(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	path := "/api/rooms/" + id + "/events"
	results := make([][]string, len(forms))
	done := make(chan int)
	for i, form := range forms {
		r := x.subscribe(form, "control", path)
		first, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer func() { done <- i }()
			defer r.close()
			results[i] = append(results[i], first)
			for {
				line, err := r.next()
				if err != nil {
					return
				}
				results[i] = append(results[i], line)
			}
		}()
	}
	x.command(id, api.Command{Do: "resume"})
	for range forms {
		<-done
	}
	live := false
	for i, form := range forms {
		lines := x.read(form, path, "control")
		events := eventsOf(lines)
		if !slices.Equal(eventsOf(results[i]), events) || len(events) < 10 {
			t.Errorf("%s: of %d events while the room ran, there are %d afterwards", form, len(eventsOf(results[i])), len(events))
		}
		if !slices.Equal(events, eventsOf(results[0])) {
			t.Errorf("%s has other events than %s", form, forms[0])
		}
		live = live || slices.ContainsFunc(results[i], func(l string) bool { return strings.Contains(l, "LIVE-SECRET") })
		if e := endOf(t, results[i]); e.Code != api.EndRoom || e.After != int64(len(events)) {
			t.Errorf("%s ends with %+v", form, e)
		}
		rest := x.read(form, fmt.Sprintf("%s?after=%d", path, len(events)-2), "control")
		if !slices.Equal(eventsOf(rest), events[len(events)-2:]) {
			t.Errorf("%s after the last event but two: %q", form, rest)
		}
		if lines := x.read(form, path+"?follow=false&after=1", "read"); endOf(t, lines).Code != api.EndStored || len(eventsOf(lines)) == 0 {
			t.Errorf("%s of what is stored: %q", form, lines)
		}
	}
	if !live { // one stream may miss it
		t.Error("no stream has live text")
	}
	r := x.subscribe("text/event-stream", "control", path+"?after=1", "Last-Event-ID", "3")
	if line, err := r.next(); err != nil || !strings.Contains(line, `"seq":4,`) {
		t.Errorf("after Last-Event-ID: %s, %v", line, err)
	}
	r.close()
	last := fmt.Sprint(len(eventsOf(results[0])))
	if resp := x.open(http.MethodGet, path, nil, "Accept", "text/event-stream", "Last-Event-ID", last); resp.StatusCode != http.StatusNoContent {
		t.Errorf("an EventSource at the end of a room: %s", resp.Status)
	}
}
