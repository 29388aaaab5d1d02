package policy

// inOrder reads a decision as [Decision.AppendJSON] writes most: without a
// message, hints and a time to retry, and with a state that is a string. It
// returns false at anything else, a fault too, so that whatever is wrong is told in one
// place.
func (d *decisionDecoder) inOrder() bool {
	if !d.expect(`{"action":`) {
		return false
	}
	d.out.Action = d.action()
	if d.expect(`,"agent":`) {
		d.out.Agent = d.String()
	}
	if d.expect(`,"reason":`) {
		d.out.Reason = d.bounded()
	}
	if d.expect(`,"confidence":`) {
		f := d.Float()
		if f < 0 || f > 1 {
			return false
		}
		d.out.Confidence = &f
	}
	if d.expect(`,"scores":`) && !d.scoresInOrder() {
		return false
	}
	if d.expect(`,"state":`) {
		if d.peek() != '"' {
			return false
		}
		d.out.State = d.bulk(MaxState)
	}
	return d.expect("}") && d.err == nil
}

func (d *decisionDecoder) scoresInOrder() bool {
	if !d.expect("[") {
		return false
	}
	d.out.Scores = make([]Score, 0, 8)
	for d.err == nil && d.expect(`{"agent":`) {
		s := Score{Agent: d.String()}
		if !d.expect(`,"score":`) {
			return false
		}
		s.Score = d.Float()
		d.out.Scores = append(d.out.Scores, s)
		if d.expect("}]") {
			return true
		}
		if !d.expect("},") {
			return false
		}
	}
	return false
}
