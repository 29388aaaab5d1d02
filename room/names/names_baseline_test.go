package names

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBaselines computes the accuracy of simple rules over the shared halves of
// the transcripts. The figures hold only if names are found exactly as defined.
func TestBaselines(t *testing.T) {
	for _, c := range []struct {
		set       string
		decisions int
		want      map[string]string // accuracy in per cent
	}{
		{"whowhen", 1074, map[string]string{
			"round-robin": "39.8", "freq": "66.6", "aba": "66.3", "bigram": "66.6", "ngram3": "67.1",
			"address-aba": "68.9", "address-ngram3": "69.2", "mention-ngram3": "69.3",
		}},
		{"delidata", 4877, map[string]string{
			"round-robin": "38.3", "freq": "40.2", "aba": "35.4", "bigram": "39.8", "ngram3": "40.5",
			"address-aba": "35.7", "address-ngram3": "40.7", "mention-ngram3": "40.4",
		}},
		{"meetings-committee", 3707, map[string]string{
			"round-robin": "7.8", "freq": "30.2", "aba": "50.2", "bigram": "40.5", "ngram3": "50.4",
			"address-aba": "54.3", "address-ngram3": "54.6", "mention-ngram3": "47.2",
		}},
		{"llmafia", 368, map[string]string{
			"round-robin": "13.0", "freq": "20.4", "aba": "15.8", "bigram": "17.9", "ngram3": "18.8",
			"address-aba": "17.7", "address-ngram3": "19.6", "mention-ngram3": "18.8",
		}},
		{"irc-threads", 13996, map[string]string{
			"round-robin": "28.5", "freq": "54.1", "aba": "52.6", "bigram": "52.3", "ngram3": "52.5",
			"address-aba": "59.3", "address-ngram3": "59.3", "mention-ngram3": "59.5",
		}},
	} {
		t.Run(c.set, func(t *testing.T) {
			hits, n := map[string]int{}, 0
			for _, conversation := range readConversations(t, c.set) {
				n += conversation.replay(hits)
			}
			if n != c.decisions {
				t.Errorf("%d decisions, want %d", n, c.decisions)
			}
			for rule, want := range c.want {
				if got := fmt.Sprintf("%.1f", 100*float64(hits[rule])/float64(n)); got != want {
					t.Errorf("%s: %s %%, want %s", rule, got, want)
				}
			}
		})
	}
}

// A conversation has consecutive turns of one speaker merged.
type conversation struct {
	ids   []string
	names *Matcher
	turns []turn
}

type turn struct {
	by   int
	text string
}

func readConversations(t *testing.T, set string) []conversation {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "transcripts", set+".jsonl.gz"))
	if err != nil {
		t.Skip("the shared transcripts are not in the parent folder of this checkout")
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var conversations []conversation
	for d := json.NewDecoder(z); ; {
		var c struct {
			Participants []struct{ ID string }
			Turns        []struct{ Speaker, Text string }
		}
		if err := d.Decode(&c); err == io.EOF {
			return conversations
		} else if err != nil {
			t.Fatal(err)
		}
		var k conversation
		for _, p := range c.Participants {
			k.ids = append(k.ids, p.ID)
		}
		slices.Sort(k.ids)
		k.names = New(k.ids, nil)
		for _, one := range c.Turns {
			by := slices.Index(k.ids, one.Speaker)
			if n := len(k.turns); n > 0 && k.turns[n-1].by == by {
				k.turns[n-1].text += "\n" + one.Text
			} else {
				k.turns = append(k.turns, turn{by, one.Text})
			}
		}
		if len(k.ids) >= 3 && len(k.turns) >= 2 {
			conversations = append(conversations, k)
		}
	}
}

// replay adds to hits how often each rule predicts the next speaker.
func (k conversation) replay(hits map[string]int) int {
	last := make([]int, len(k.ids)) // place of the last turn, from 1
	count := map[[3]int]int{}       // -1 is a wildcard
	before := -2
	for i, turn := range k.turns[:len(k.turns)-1] {
		last[turn.by] = i + 1
		count[[3]int{-1, -1, turn.by}]++
		if i > 0 {
			count[[3]int{-1, k.turns[i-1].by, turn.by}]++
			count[[3]int{before, k.turns[i-1].by, turn.by}]++
			before = k.turns[i-1].by
		}
		s := k.names.scan(turn.text, k.ids[turn.by])
		for rule, score := range k.rules(turn.by, before, count, s) {
			if k.first(turn.by, last, score) == k.turns[i+1].by {
				hits[rule]++
			}
		}
	}
	return len(k.turns) - 1
}

type scores func(who int) []int

func (k conversation) rules(by, before int, count map[[3]int]int, s *scan) map[string]scores {
	n := len(k.ids)
	ngram := func(c int) []int { return []int{count[[3]int{before, by, c}], count[[3]int{-1, by, c}]} }
	mentions := s.mentions()
	addressed := s.addressed()
	address := func(c int) []int {
		if len(addressed) > 0 && addressed[len(addressed)-1] == k.ids[c] {
			return []int{1}
		}
		return []int{0}
	}
	mention := func(c int) []int {
		switch {
		case s.lead == c:
			return []int{2}
		case len(mentions) > 0 && mentions[len(mentions)-1] == k.ids[c]:
			return []int{1}
		}
		return []int{0}
	}
	return map[string]scores{
		"round-robin":    func(c int) []int { return []int{-((c - by + n) % n)} },
		"aba":            func(int) []int { return nil },
		"freq":           func(c int) []int { return []int{count[[3]int{-1, -1, c}]} },
		"bigram":         func(c int) []int { return []int{count[[3]int{-1, by, c}]} },
		"ngram3":         ngram,
		"address-aba":    address,
		"address-ngram3": func(c int) []int { return append(address(c), ngram(c)...) },
		"mention-ngram3": func(c int) []int { return append(mention(c), ngram(c)...) },
	}
}

// first returns the candidate with the best score. Of equal scores the most
// recent speaker wins, then the first in byte order.
func (k conversation) first(by int, last []int, score scores) int {
	best := -1
	for c := range k.ids {
		if c == by {
			continue
		}
		if best < 0 || slices.Compare(append(score(c), last[c]), append(score(best), last[best])) > 0 {
			best = c
		}
	}
	return best
}
