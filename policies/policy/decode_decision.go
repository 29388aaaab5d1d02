package policy

import "strconv"

// DecodeDecision reads what a policy answered, strictly, because a policy is
// not trusted and its author wants to hear of a slip: it refuses keys it does
// not know or that come twice (at any depth), other spellings of a key, other
// actions, numbers that a float64 cannot hold, anything after the value, and
// what exceeds the bounds of the contract. Every error is a *[DecodeError].
//
// Hints and State come out without white space between their tokens, so that
// they pass through a log that compacts JSON unchanged. The other strings
// share memory with b.
func DecodeDecision(b []byte) (Decision, error) {
	d := decisionDecoder{strictReader: strictReader{Reader: Reader{b: b}}}
	if len(b) > MaxOutput {
		d.Fail("an answer of " + strconv.Itoa(len(b)) + " bytes; at most " + strconv.Itoa(MaxOutput))
		return Decision{}, d.err
	}
	if !d.inOrder() {
		d = decisionDecoder{strictReader: strictReader{Reader: Reader{b: b}}}
		for d.Object(); d.More(); {
			d.member()
		}
	}
	d.End()
	d.check()
	if d.err != nil {
		return Decision{}, d.err
	}
	return d.out, nil
}

type decisionDecoder struct {
	strictReader
	out  Decision
	seen uint16
}

// keys in the order of [Decision.AppendJSON]; the index is the bit in seen.
var decisionKeys = [...]string{
	"action", "agent", "reason", "message", "confidence", "retry_ms", "hints", "scores", "state",
}

func (d *decisionDecoder) member() {
	k := d.Key()
	if d.err != nil || !d.once(k) {
		return
	}
	switch k {
	case "action":
		d.out.Action = d.action()
	case "agent":
		d.out.Agent = d.String()
	case "reason":
		d.out.Reason = d.bounded()
	case "message":
		d.out.Message = d.bounded()
	case "confidence":
		f := d.Float()
		if d.err == nil && (f < 0 || f > 1) {
			d.Fail("expected a number from 0 to 1")
		}
		d.out.Confidence = &f
	case "retry_ms":
		if d.out.RetryMS = d.Int(); d.out.RetryMS < 0 {
			d.Fail("expected milliseconds, 0 or more")
		}
	case "hints":
		d.out.Hints = d.bulk(MaxHints)
	case "scores":
		d.scores()
	case "state":
		d.out.State = d.bulk(MaxState)
	}
	d.name(k)
}

// once refuses an unknown key and one that has come before.
func (d *decisionDecoder) once(k string) bool {
	for i, known := range decisionKeys {
		if k != known {
			continue
		}
		if d.seen&(1<<i) != 0 {
			d.Fail("key " + strconv.Quote(k) + " comes twice")
			return false
		}
		d.seen |= 1 << i
		return true
	}
	what := "unknown key " + strconv.Quote(clip(k, 40))
	for _, known := range decisionKeys {
		if foldEqual(k, known) {
			what += "; did you mean " + strconv.Quote(known) + "?"
		}
	}
	d.Fail(what)
	return false
}

// name puts the key in front of the field of an error that has just happened.
func (d *decisionDecoder) name(k string) {
	if d.err != nil {
		d.err.Field = k + d.err.Field
	}
}

func (d *decisionDecoder) action() string {
	s := d.String()
	switch s {
	case ActionSpeak, ActionDecline, ActionFinish, ActionError:
		return s
	}
	d.Fail("unknown action " + strconv.Quote(clip(s, 40)) + "; expected speak, decline, finish or error")
	return ""
}

func (d *decisionDecoder) bounded() string {
	s := d.String()
	if len(s) > MaxReason {
		d.Fail(strconv.Itoa(len(s)) + " bytes; at most " + strconv.Itoa(MaxReason))
	}
	return s
}

// bulk reads any value of at most limit bytes.
func (d *decisionDecoder) bulk(limit int) JSON {
	d.peek()
	start := d.p
	d.skip()
	if d.err != nil {
		return nil
	}
	out := compact(d.b[start:d.p])
	if len(out) > limit {
		d.Fail(strconv.Itoa(len(out)) + " bytes; at most " + strconv.Itoa(limit))
	}
	return out
}

func (d *decisionDecoder) scores() {
	for d.Array(); d.More(); {
		n := len(d.out.Scores)
		var s Score
		var hasAgent, hasScore bool
		for d.Object(); d.More(); {
			switch k := d.Key(); {
			case k == "agent" && !hasAgent:
				s.Agent, hasAgent = d.String(), true
			case k == "score" && !hasScore:
				s.Score, hasScore = d.Float(), true
			default:
				d.Fail("expected the keys agent and score, once each, not " + strconv.Quote(clip(k, 40)))
			}
		}
		if !hasAgent || !hasScore {
			d.Fail("expected the keys agent and score")
		}
		if d.err != nil {
			d.err.Field = "[" + strconv.Itoa(n) + "]" + d.err.Field
			return
		}
		d.out.Scores = append(d.out.Scores, s)
	}
}

// check holds what one key demands of another.
func (d *decisionDecoder) check() {
	switch o := &d.out; {
	case d.err != nil:
	case o.Action == "":
		d.missing("action", "an answer needs an action")
	case o.Action == ActionSpeak && o.Agent == "":
		d.missing("agent", "speak needs the id of an agent")
	case (o.Action == ActionDecline || o.Action == ActionFinish) && o.Reason == "":
		d.missing("reason", o.Action+" needs a reason")
	}
}

func (d *decisionDecoder) missing(field, what string) {
	d.Fail(what)
	d.err.Field = field
}

// clip cuts s to at most n bytes, on a rune's border, and says that it did.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// foldEqual compares ASCII without regard to case.
func foldEqual(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}
