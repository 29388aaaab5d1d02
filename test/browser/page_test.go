package browser

import (
	"encoding/json"
	"net/http"
	"testing"

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

// signIn signs the browser in with that scope.
func (s served) signIn(b *browser, scope string) {
	s.t.Helper()
	var launch struct{ URL string }
	s.call(http.MethodPost, "/api/launches", `{"scope":"`+scope+`"}`, &launch)
	b.run(s.t, chromedp.Navigate(launch.URL), chromedp.Poll(`document.querySelector("[role=status]").textContent.includes("signed in")`, nil))
}

// TestPageShowsRoom checks that the page of a room shows what its agents say, as it
// comes.
func TestPageShowsRoom(t *testing.T) {
	s := serve(t)
	id := s.room(`version: room/v1
name: test
objective: test the page
policy: {use: roundrobin}
participants:
  - {id: ann, kind: human}
  - {id: bot, mode: full_auto, endpoint: {kind: scripted, lines: ["**hello**"]}}
`)
	b := start(t)
	s.signIn(b, "admin")
	b.run(t, chromedp.Navigate(s.URL+"/rooms/"+id), chromedp.WaitVisible("moot-timeline strong", chromedp.ByQuery),
		chromedp.SendKeys("moot-dock textarea", "hi there", chromedp.ByQuery), chromedp.Click("moot-dock button[type=submit]", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("moot-timeline").textContent.includes("hi there")`, nil))
	b.screenshot(t, "room")
}
