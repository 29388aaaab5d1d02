package adaptive

import "github.com/folkmoot/moot/policies/policy"

// owners tells whose names have a word: one seat's, or several. It is filled
// when it is first asked in a decision, which most are made without.
type owners struct {
	filled bool
	places [1024]owner
	used   int
}

type owner struct {
	word uint32 // a hash, 0 for none
	seat int16  // or several
}

const several = -1

// mostWords is how many words are told apart; of more, none is anybody's own.
const mostWords = 768

// fill takes the words of a roster.
func (o *owners) fill(agents []policy.Agent) {
	if o.filled {
		return
	}
	clear(o.places[:])
	o.filled, o.used = true, 0
	for seat := range agents {
		o.add(int16(seat), agents[seat].ID)
		if agents[seat].Name != agents[seat].ID {
			o.add(int16(seat), agents[seat].Name)
		}
	}
}

func (o *owners) add(seat int16, name string) {
	for i := 0; i < len(name); i++ {
		if !startsWord(name, i) {
			continue
		}
		end := wordOf(name, i)
		var room [32]byte
		w := o.find(appendLower(room[:0], name[i:end]))
		switch {
		case w.word == 0 && o.used == mostWords:
			return
		case w.word == 0:
			o.used++
			w.word, w.seat = wordHash(appendLower(room[:0], name[i:end])), seat
		case w.seat != seat:
			w.seat = several
		}
		i = end - 1
	}
}

// find returns the place of a word, or where it would be.
func (o *owners) find(word []byte) *owner {
	h := wordHash(word)
	for at := h; ; at++ {
		if w := &o.places[at%uint32(len(o.places))]; w.word == h || w.word == 0 {
			return w
		}
	}
}

func wordHash(word []byte) uint32 {
	h := uint64(len(word))
	for _, c := range word {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return uint32(h>>32) | 1
}

// alone reports whether a word is in the names of that seat only.
func (o *owners) alone(seat int, word []byte) bool {
	return o.used < mostWords && o.find(word).seat == int16(seat) && o.find(word).word != 0
}
