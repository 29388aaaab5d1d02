package replay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestSayings: what is summed up of a talk is what its room would hand over,
// whatever was said.
func TestSayings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 30 {
		talk := small()
		talk.Turns = nil
		for n := range 5 + rng.IntN(300) {
			size := rng.IntN(60)
			switch rng.IntN(12) {
			case 0:
				size = 0
			case 1:
				size = 1000 + rng.IntN(40_000)
			}
			talk.Turns = append(talk.Turns, Turn{Speaker: []string{"ann", "bob", "cid"}[n%3], Text: strings.Repeat("x", size)})
		}
		h, err := Transcript{Name: fmt.Sprint(i), Talk: talk}.history()
		if err != nil {
			t.Fatal(err)
		}
		err = h.walk(100, nil, func(p *point) error {
			for _, b := range []room.Context{p.state.Bounds, {Tokens: 1000, SummaryTokens: 250}, {Tokens: 4000, SummaryTokens: 1000}, {Tokens: 1, SummaryTokens: 1}} {
				b.HistoryTurns, b.HistoryChars, b.LineChars = p.state.Bounds.HistoryTurns, p.state.Bounds.HistoryChars, p.state.Bounds.LineChars
				tokens, omitted := p.window(0, b)
				p.view = *p.state
				p.view.Bounds = b
				w := p.view.WindowFor(p.h.seats[0].id)
				want := 0
				for _, o := range w.Omitted {
					want += o.Messages
				}
				if tokens != w.Tokens || omitted != want {
					return fmt.Errorf("point %d, %d tokens: %d and %d left out, want %d and %d", p.n, b.Tokens, tokens, omitted, w.Tokens, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("talk %d: %v", i, err)
		}
	}
}
