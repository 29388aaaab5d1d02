package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/server"
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

// TestStreamOutlastsRest checks that a reader gets the end of a stream also from a busy
// server, which has told its other requests to end before the Host has stopped.
func TestStreamOutlastsRest(t *testing.T) {
	x := newFixture(t, t.TempDir())
	id := x.paused(talk)
	s := server.New(server.Config{Host: x.Host, Version: "test"})
	handler, told := s.Handler(whoTests), make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(told)
				return
			}
			handler.ServeHTTP(w, r)
		}))
	}()
	get := func(path string) *http.Response {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	get("/wait")
	lines := bufio.NewScanner(get("/api/rooms/" + id + "/events?follow=true").Body)
	end()
	<-told
	if err := x.Stop(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	var u api.Update
	if err := json.Unmarshal([]byte(last), &u); err != nil || u.End == nil || u.End.Code != api.EndServer {
		t.Errorf("the stream ends with %q: %v", last, lines.Err())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
