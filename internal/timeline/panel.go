package timeline

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/viewport"
)

// A panel is what a screen shows in place of the timeline.
type panel int

const (
	noPanel panel = iota
	rosterPanel
	inboxPanel
)

// Bounds of the roster next to the timeline, in columns: the width of the screen from
// which it is shown, and its own.
const (
	sideFrom           = 110
	minSide, maxSide   = 36, 46
	separator          = "│ "
	minLines, maxShare = 2, 3 // of the list of the inbox: lines, and the part of the panel
)

// panels are the parts of a screen besides the timeline.
type panels struct {
	panel    panel
	hideSide bool           // the person has hidden the roster next to the timeline
	top      int            // first line of the roster panel
	detail   viewport.Model // the chosen item of the inbox
	detailOf string         // what detail shows
}

// side returns the columns of the roster next to the timeline, 0 if it is not shown.
func (x *screen) side() int {
	if x.width < sideFrom || x.hideSide {
		return 0
	}
	return min(max(minSide, x.width/3), maxSide)
}

// body returns the width and the height of the timeline, or of the panel in its place.
func (x *screen) body() (width, height int) {
	return max(1, x.width-x.side()), max(1, x.height-x.chrome())
}

// fit fits the timeline into the screen. A roster in its place moves next to it if the
// screen has become wide enough.
func (x *screen) fit() {
	if x.panel == rosterPanel && x.width >= sideFrom {
		x.closePanel()
		x.hideSide = false
	}
	x.pane.resize(x.body())
}

// toggleRoster shows or hides the roster: next to the timeline if the screen is wide
// enough, else in its place.
func (x *screen) toggleRoster() {
	if x.width >= sideFrom {
		x.hideSide = !x.hideSide
		x.fit()
		return
	}
	if x.panel == rosterPanel {
		x.closePanel()
		return
	}
	x.closePanel()
	x.panel, x.top = rosterPanel, 0
}

// toggleInbox shows or hides the inbox.
func (x *screen) toggleInbox() {
	if x.panel == inboxPanel {
		x.closePanel()
		return
	}
	x.panel = inboxPanel
	x.waits.open(x.view.Room)
}

// closePanel shows the timeline again.
func (x *screen) closePanel() {
	if x.panel == inboxPanel {
		x.waits.close()
	}
	x.panel = noPanel
}

// scrollPanel moves the lines of a panel by n lines or pages.
func (x *screen) scrollPanel(n int, pages bool) {
	_, height := x.body()
	if x.panel == rosterPanel {
		if pages {
			n *= max(1, height-2)
		}
		x.top = max(0, x.top+n)
		return
	}
	if pages {
		n *= max(1, x.detail.Height()-1)
	}
	x.detail.SetYOffset(x.detail.YOffset() + n)
}

// movePanel handles the keys that move in a panel. The arrows choose an item of the
// inbox.
func (x *screen) movePanel(name string) bool {
	if x.panel == noPanel {
		return false
	}
	choosing := len(x.matches()) > 1
	switch {
	case name == "up" && !choosing, name == "down" && !choosing:
		n := map[string]int{"up": -1, "down": 1}[name]
		if x.panel == inboxPanel {
			x.waits.choose(n)
		} else {
			x.scrollPanel(n, false)
		}
	case name == "pgup" || name == "shift+pgup":
		x.scrollPanel(-1, true)
	case name == "pgdown" || name == "shift+pgdown":
		x.scrollPanel(1, true)
	case name == "ctrl+home", name == "home" && x.empty():
		x.scrollPanel(-maxLines*2, false)
	case name == "ctrl+end", name == "end" && x.empty():
		x.scrollPanel(maxLines*2, false)
	default:
		return false
	}
	return true
}

// main returns the lines between the head and the rule: the timeline or a panel, and
// the roster next to it.
func (x *screen) main(now time.Time) string {
	width, height := x.body()
	var lines []string
	switch x.panel {
	case rosterPanel:
		lines = x.rosterPanel(width, height, now)
	case inboxPanel:
		lines = x.inboxPanel(width, height, now)
	default:
		lines = strings.Split(x.pane.view.View(), "\n")
	}
	side := x.side()
	if side == 0 && x.panel == noPanel {
		return strings.Join(lines, "\n")
	}
	var roster []string
	if side > 0 {
		roster = x.sideRoster(side-columns(separator), height, now)
	}
	var b strings.Builder
	for i := range height {
		if i > 0 {
			b.WriteByte('\n')
		}
		line := lineAt(lines, i)
		b.WriteString(line)
		if side > 0 {
			b.WriteString(strings.Repeat(" ", max(0, width-columns(line))) + x.pane.style.paint(dim, separator) + lineAt(roster, i))
		}
	}
	return b.String()
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// rosterHead is the first line of the roster.
func (x *screen) rosterHead(width int) string {
	st := x.pane.style
	return st.paint(bold, "ROSTER") + st.paint(dim, clip("  policy "+x.view.Policy, width-6))
}

// sideRoster is the roster next to the timeline. If it is too long, the seat that speaks
// is shown.
func (x *screen) sideRoster(width, height int, now time.Time) []string {
	lines, speaks := x.rosterLines(x.pane.style, width, height-1, now)
	top := max(0, min(speaks, len(lines)-height+1))
	return append([]string{x.rosterHead(width)}, lines[top:]...)
}

// rosterPanel is the roster in place of the timeline.
func (x *screen) rosterPanel(width, height int, now time.Time) []string {
	lines, _ := x.rosterLines(x.pane.style, min(width, maxSide*2), height-1, now)
	x.top = max(0, min(x.top, len(lines)-height+1))
	return append([]string{x.rosterHead(width)}, lines[x.top:]...)
}

// below reports whether a panel has lines below those that are shown.
func (x *screen) below() bool {
	switch x.panel {
	case rosterPanel:
		width, height := x.body()
		lines, _ := x.rosterLines(Style{}, min(width, maxSide*2), height-1, time.Now())
		return len(lines)-x.top > height-1
	case inboxPanel:
		return !x.detail.AtBottom()
	}
	return !x.pane.view.AtBottom()
}
