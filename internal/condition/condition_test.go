package condition

import (
	"strings"
	"testing"
)

func TestHolds(t *testing.T) {
	for text, want := range map[string]string{ // of the values 3, 4, 5
		"turns < 4": "3", "turns <= 4": "34", "turns == 4": "4", "turns != 4": "35", "turns >= 4": "45", "turns > 4": "5",
		" turns<4 ": "3", "turns > -1": "345", "turns < 3.5": "3", "turns < 400%": "3", "a-b.c.turns>4": "5",
	} {
		c, ok := Parse(text)
		if !ok || c.Figure != "turns" || c.Text != strings.TrimSpace(text) {
			t.Errorf("%q is read as %+v, %v", text, c, ok)
		}
		got := ""
		for i, x := range []float64{3, 4, 5} {
			if c.Holds(x) {
				got += "345"[i : i+1]
			}
		}
		if got != want {
			t.Errorf("%s holds for %q, want %q", text, got, want)
		}
	}
	if c, _ := Parse("a-b.c.turns>4"); c.Of != "a-b.c" {
		t.Errorf("of %q", c.Of)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "turns", "turns < ", "turns < 4", "turns = 4", "turns < 4 && x", "< 4", "Turns < 4", "turns < 1e9", "turns < " + strings.Repeat("9", 400)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := Parse(text)
		if !ok {
			return
		}
		again, ok := Parse(c.Text)
		if !ok || again != c {
			t.Errorf("%q is read as %+v and then as %+v", text, c, again)
		}
	})
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"", "turns", "turns < ", "turns = 4", "turns < 4 && x", "< 4", "Turns < 4", "turns < 1e9", "turns < " + strings.Repeat("9", 400), " .turns < 4"} {
		if c, ok := Parse(text); ok {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
}
