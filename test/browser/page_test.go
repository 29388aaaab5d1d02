package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPageShowsRoom checks that the page of a room shows what its agents say, as it
// comes.
func TestPageShowsRoom(t *testing.T) {
	s := serve(t)
	var launch struct{ URL string }
	s.call(http.MethodPost, "/api/launches", `{"scope":"admin"}`, &launch)
	var created struct{ Room string }
	s.call(http.MethodPost, "/api/rooms", `{"yaml":"version: room/v1\nname: test\nobjective: test the page\npolicy: {use: roundrobin}\nparticipants:\n  - {id: ann, kind: human}\n  - {id: bot, mode: full_auto, endpoint: {kind: scripted, lines: [\"**hello**\"]}}\n"}`, &created)
	b := start(t)
	b.run(t, chromedp.Navigate(launch.URL), chromedp.Poll(`document.querySelector("[role=status]").textContent.includes("signed in")`, nil),
		chromedp.Navigate(s.URL+"/rooms/"+created.Room), chromedp.WaitVisible("moot-timeline strong", chromedp.ByQuery),
		chromedp.SendKeys("moot-dock textarea", "hi there", chromedp.ByQuery), chromedp.Click("moot-dock button[type=submit]", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("moot-timeline").textContent.includes("hi there")`, nil))
	b.screenshot(t, "room")
}
