package timeline

import (
	"sort"
	"strings"

	"charm.land/bubbles/v2/viewport"
	"charm.land/lipgloss/v2"
)

// A block is one part of a pane: an event, or the answer to a command. It is
// rendered again when the width of the terminal changes.
type block struct {
	render func(Style) string
	draft  string // hash of the draft that it shows, or ""
	asks   bool   // it waits for the person
	answer bool   // no part of the timeline
}

// Bounds of the timeline that a screen keeps. Older blocks are dropped; the log
// has them.
const (
	maxBlocks = 2_000
	maxLines  = 10_000
)

// A pane is the part of a screen that shows the timeline. It follows the newest
// line until the person scrolls up; then the shown lines stay where they are.
type pane struct {
	style  Style
	view   viewport.Model
	blocks []block
	lines  []string
	starts []int  // first line of each block
	unseen int    // blocks added below the shown lines
	marked string // hash of the highlighted draft, or ""
	held   bool   // the first line of a block that waits for the person is at the top
	// replied says that the answer to a command was added, until the screen knows it.
	replied bool
}

func newPane(color bool) *pane {
	return &pane{style: Style{Color: color}, view: viewport.New()}
}

// add appends a block. One that waits for the person, and is longer than the pane, is
// shown from its first line.
func (p *pane) add(b block) {
	follow := p.view.AtBottom() && !p.held
	p.blocks = append(p.blocks, b)
	p.layout(b)
	p.trim()
	p.view.SetContentLines(p.lines)
	if follow {
		p.newest()
	} else {
		p.unseen++
	}
}

// newest shows the end of the newest block, or the begin of one that is longer than the
// pane and waits for the person.
func (p *pane) newest() {
	p.bottom()
	if len(p.blocks) == 0 {
		return
	}
	last := len(p.blocks) - 1
	if start := p.starts[last]; p.blocks[last].asks && len(p.lines)-start > p.view.Height() {
		p.view.SetYOffset(start)
		p.held = true
	}
}

// release ends what add does for a block that waits.
func (p *pane) release() {
	if p.held {
		p.bottom()
	}
}

// layout appends the lines of a block.
func (p *pane) layout(b block) {
	p.starts = append(p.starts, len(p.lines))
	text := strings.TrimSuffix(b.render(p.style), "\n")
	lines := strings.Split(text, "\n")
	if b.draft != "" && b.draft == p.marked {
		plain := b.render(Style{Width: p.style.Width})
		first, _, _ := strings.Cut(plain, "\n")
		lines[0] = lipgloss.NewStyle().Reverse(true).Render(first)
	}
	p.lines = append(p.lines, lines...)
}

// relayout renders all blocks again.
func (p *pane) relayout() {
	p.lines, p.starts = nil, nil
	for _, b := range p.blocks {
		p.layout(b)
	}
	p.view.SetContentLines(p.lines)
}

// trim drops the oldest blocks when there are too many. It drops a quarter at
// once, so that most calls drop nothing.
func (p *pane) trim() {
	if len(p.blocks) <= maxBlocks && len(p.lines) <= maxLines {
		return
	}
	n := 0
	for n < len(p.blocks)-1 && (len(p.blocks)-n > maxBlocks*3/4 || len(p.lines)-p.starts[n] > maxLines*3/4) {
		n++
	}
	if n == 0 {
		return
	}
	cut := p.starts[n]
	p.blocks = append([]block(nil), p.blocks[n:]...)
	p.lines = append([]string(nil), p.lines[cut:]...)
	p.starts = append([]int(nil), p.starts[n:]...)
	for i := range p.starts {
		p.starts[i] -= cut
	}
	offset := p.view.YOffset() - cut
	p.view.SetContentLines(p.lines)
	p.view.SetYOffset(offset)
}

// resize fits the pane into width columns and height lines. The block at the
// top stays there.
func (p *pane) resize(width, height int) {
	first, follow := p.view.Height() == 0, p.view.AtBottom()
	offset := p.view.YOffset()
	top := max(0, sort.SearchInts(p.starts, offset+1)-1)
	p.view.SetWidth(width)
	p.view.SetHeight(height)
	if p.style.Width != width {
		p.style.Width = width
		p.relayout()
		if top < len(p.starts) {
			offset = p.starts[top]
		}
	}
	p.view.SetYOffset(offset)
	switch {
	case first:
		p.newest()
	case follow:
		p.bottom()
	}
}

// mark highlights the draft with that hash and scrolls to it. An empty hash
// removes the highlight.
func (p *pane) mark(draft string) {
	if p.marked == draft {
		return
	}
	p.marked = draft
	p.relayout()
	for i, b := range p.blocks {
		if draft == "" || b.draft != draft {
			continue
		}
		end := len(p.lines)
		if i+1 < len(p.starts) {
			end = p.starts[i+1]
		}
		if top := p.view.YOffset(); p.starts[i] < top || end > top+p.view.Height() {
			p.view.SetYOffset(p.starts[i])
		}
	}
	p.seen()
}

// scroll moves the shown lines down, or up for a negative n.
func (p *pane) scroll(n int) {
	p.held = false
	p.view.SetYOffset(p.view.YOffset() + n)
	p.seen()
}

func (p *pane) page(n int) { p.scroll(n * max(1, p.view.Height()-1)) }

func (p *pane) bottom() {
	p.held = false
	p.view.GotoBottom()
	p.seen()
}

func (p *pane) seen() {
	if p.view.AtBottom() {
		p.unseen = 0
	}
}

// text returns the timeline in another style.
func (p *pane) text(s Style) string {
	var b strings.Builder
	for _, x := range p.blocks {
		if !x.answer {
			b.WriteString(x.render(s))
		}
	}
	return b.String()
}
