package browser

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// room creates a room of that room.yaml and returns its id.
func (s served) room(yaml string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"yaml": yaml})
	if err != nil {
		s.t.Fatal(err)
	}
	var created struct{ Room string }
	if s.call(http.MethodPost, "/api/rooms", string(body), &created); created.Room == "" {
		s.t.Fatal("no room was created")
	}
	return created.Room
}

// do sends a command, whose fields are JSON.
func (s served) do(room string, command map[string]any) {
	s.t.Helper()
	body, err := json.Marshal(command)
	if err != nil {
		s.t.Fatal(err)
	}
	var done struct{ Events []json.RawMessage }
	s.call(http.MethodPost, "/api/rooms/"+room+"/commands", string(body), &done)
}

// A view is what tests read of a room.
type view struct {
	Phase   string
	Turn    int
	Draft   *struct{ Hash string }
	Ask     []struct{ ID string } `json:"permission_requests"`
	Tally   map[string]any
	Members []struct{ ID, Phase, Presence string } `json:"participants"`
}

// until waits until the room is as is wants it: it looks at it again after each event.
func (s served) until(room string, is func(view) bool) view {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/rooms/"+room+"/events?form=page&follow=true", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := json.NewDecoder(resp.Body)
	for {
		var u struct {
			View *view
			End  json.RawMessage
		}
		if err := lines.Decode(&u); err != nil || u.End != nil && (u.View == nil || !is(*u.View)) {
			s.t.Fatalf("room %s does not become as the test wants it: %s %v", room, u.End, err)
		}
		if u.View != nil && is(*u.View) {
			return *u.View
		}
	}
}

// signIn signs the browser in with that scope. From now on complaints of the page fail
// the test.
func (s served) signIn(b *browser, scope string) {
	s.t.Helper()
	var launch struct{ URL string }
	s.call(http.MethodPost, "/api/launches", `{"scope":"`+scope+`"}`, &launch)
	b.run(s.t, chromedp.Navigate(launch.URL), chromedp.WaitReady("moot-rail", chromedp.ByQuery)) // it navigates meanwhile
	b.watch(s.t)
}

// show opens the page of a room and waits until it is there.
func (s served) show(b *browser, room string) {
	s.t.Helper()
	b.run(s.t, chromedp.Navigate(s.URL+"/rooms/"+room))
	b.until(s.t, `document.querySelector("moot-roster li") && document.querySelector("moot-timeline .row")`)
}

// TestPageShowsRoom checks that the page of a room shows what its agents say, as it
// comes.
func TestPageShowsRoom(t *testing.T) {
	s, a := serve(t), newAgents(t)
	id := s.room(`version: room/v1
name: test
objective: test the page
policy: {use: roundrobin}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: ` + a.endpoint("bot") + `}
`)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id))
	b.until(t, `document.querySelector("moot-roster li")`)
	b.run(t, chromedp.SendKeys("moot-dock textarea", "hi there", chromedp.ByQuery), chromedp.Click("moot-dock button[type=submit]", chromedp.ByQuery))
	b.until(t, `document.querySelector("moot-timeline").textContent.includes("hi there")`)
	a.says("bot", "**hello**")
	b.until(t, `document.querySelector("moot-timeline strong")?.textContent !== undefined && document.querySelector("moot-timeline .text strong")?.textContent === "hello"`)
	b.screenshot(t, "room")
}
