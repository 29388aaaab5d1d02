package transcripts

import (
	"slices"

	"github.com/folkmoot/moot/policies/policy"
)

// decodeFast decodes the usual conversation, in a fifth of the time that
// decodeStrict takes: every key once and as it is written here, every value of
// its type. Of any other line it returns nil; that one may be well formed all
// the same, or deserves an error that says what is wrong with it.
func decodeFast(line []byte) *Conversation {
	// strings share memory with the text; the line is the caller's
	f := fast{r: policy.NewReader(slices.Clone(line)), size: len(line)}
	c := &Conversation{}
	f.conversation(c)
	f.r.End()
	if f.odd || f.r.Err() != nil {
		return nil
	}
	return c
}

type fast struct {
	r    policy.Reader
	size int  // of the line
	odd  bool // something is not as usual
}

// usualTurn is how many bytes a turn takes, if it is not a short one.
const usualTurn = 150

// once notes that a key has come and reports whether it is the first time.
func (f *fast) once(seen *uint, key uint) bool {
	if *seen&(1<<key) != 0 {
		f.odd = true
	}
	*seen |= 1 << key
	return !f.odd
}

func (f *fast) conversation(c *Conversation) {
	var seen uint
	for f.r.Object(); f.r.More(); {
		switch f.r.Key() {
		case "id":
			f.text(&c.ID, &seen, 0)
		case "source":
			f.text(&c.Source, &seen, 1)
		case "license":
			f.text(&c.License, &seen, 2)
		case "participants":
			f.once(&seen, 3)
			c.Participants = []Person{}
			for f.r.Array(); f.r.More(); {
				c.Participants = append(c.Participants, f.person())
			}
		case "turns":
			f.once(&seen, 4)
			c.Turns = make([]Turn, 0, f.size/usualTurn+1)
			for f.r.Array(); f.r.More(); {
				c.Turns = append(c.Turns, f.turn())
			}
		case "extra":
			f.once(&seen, 5)
			c.Extra = f.extra()
		default:
			f.odd = true
			f.r.Skip()
		}
	}
}

func (f *fast) text(to *string, seen *uint, key uint) {
	f.once(seen, key)
	*to = f.r.String()
}

func (f *fast) person() (p Person) {
	var seen uint
	for f.r.Object(); f.r.More(); {
		switch f.r.Key() {
		case "id":
			f.text(&p.ID, &seen, 0)
		case "name":
			f.text(&p.Name, &seen, 1)
		case "kind":
			f.text(&p.Kind, &seen, 2)
		case "role":
			f.text(&p.Role, &seen, 3)
		default:
			f.odd = true
			f.r.Skip()
		}
	}
	return p
}

func (f *fast) turn() (t Turn) {
	var seen uint
	for f.r.Object(); f.r.More(); {
		switch f.r.Key() {
		case "i":
			f.once(&seen, 0)
			t.I = int(f.r.Int())
		case "speaker":
			f.text(&t.Speaker, &seen, 1)
		case "text":
			f.text(&t.Text, &seen, 2)
		case "at":
			f.text(&t.At, &seen, 3)
		case "t_s":
			f.once(&seen, 4)
			seconds := f.r.Float()
			t.Seconds = &seconds
		case "channel":
			f.text(&t.Channel, &seen, 5)
		case "addressees":
			f.once(&seen, 6)
			if t.Addressees = f.r.Strings(); t.Addressees == nil {
				t.Addressees = []string{} // as encoding/json has it
			}
		default:
			f.odd = true
			f.r.Skip()
		}
	}
	return t
}

// extra keeps any value, held to what every value is.
func (f *fast) extra() policy.JSON {
	raw := f.r.Raw()
	if f.r.Err() != nil || string(raw) == "null" {
		return nil
	}
	c := checker{b: append(slices.Clone(raw), ' ')}
	if c.value(nil, 1) != nil {
		f.odd = true
	}
	return slices.Clone(raw)
}
