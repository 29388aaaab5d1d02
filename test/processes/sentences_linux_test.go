package processes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sentences begin with every letter, small and capital, and with what else a
// person types first. Some begin like commands.
var sentences = strings.Split(strings.TrimSpace(`
approved by whom?
be brief, all of you
can this wait?
does it hold?
edit the plan first
for now, no
go on
how long?
is that all?
just a moment
keep it short
let me see
mute the alarm
next week, then
or else?
please be brief
quite right
reject nothing yet
stop is not an option
that is too long
under load?
very good
what about the index?
x marks the spot
yes
zero rows?
Approve it later
Bob, wait
Could it fail?
Draft two, please
Esc is a key
Fine by me
Good
Help is near
I disagree
Jobs run at 2
Keys are text
Less is more
Maybe not
No
Only on Friday
Pause for thought
Quit? No
Resume when?
So?
Take over later
Use the hash
Why now?
You said 5
? and 1 and 2
`), "\n")

// TestKeysOneByOne: at typing speed, while a draft waits, keys are text
// and nothing but text: the line shows the sentence, and the room has not
// changed.
func TestKeysOneByOne(t *testing.T) {
	if len(sentences) != 50 {
		t.Fatalf("%d sentences", len(sentences))
	}
	const typists = 10
	mine := sentences
	if testing.Short() {
		mine = sentences[:typists]
	}
	for n := range typists {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorkbench(t, map[string]string{"room.yaml": ptyRoom})
			x := openTerminal(t, w, 80, "run")
			x.sees("DRAFT of A waits for you")
			id := anyRoom.FindString(x.sent())
			before, err := w.moot("show", id, "-o", "json")
			if err != nil {
				t.Fatal(err)
			}
			for i := n; i < len(mine); i += typists {
				for _, key := range mine[i] {
					x.press(string(key))
					time.Sleep(20*time.Millisecond + rand.N(180*time.Millisecond)) // the person, not the test
				}
				x.sees("say> " + mine[i] + "\n")
				x.press(keyErase)
				x.sees("say>\n")
			}
			x.sees("DRAFT of A waits for you")
			after, err := w.moot("show", id, "-o", "json")
			if err != nil {
				t.Fatal(err)
			}
			if before != after {
				t.Errorf("the room was\n%s\nand is\n%s", before, after)
			}
		})
	}
}
