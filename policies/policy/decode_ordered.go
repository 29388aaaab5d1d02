package policy

// What a host writes has its keys in one order. For agents and events, which
// are most of an input, the decoder therefore compares the text that it
// expects instead of looking keys up: on WebAssembly, where a call is dear,
// that halves its time. These functions return false at the first text that
// they do not expect; the caller then starts again key by key.

// agentInOrder reads an agent as [Input.AppendJSON] writes it.
func (d *inputDecoder) agentInOrder(a *Agent) bool {
	if !d.expect(`{"id":`) || !d.str(&a.ID) || !d.expect(`,"name":`) || !d.str(&a.Name) ||
		!d.expect(`,"kind":`) || !d.str(&a.Kind) || !d.expect(`,"role":`) || !d.str(&a.Role) ||
		!d.expect(`,"domains":`) || !d.strs(&a.Domains) || !d.expect(`,"eligible":`) {
		return false
	}
	a.Eligible = d.Bool()
	if d.expect(`,"ineligible_reason":`) {
		a.Ineligible = d.String()
	}
	if !d.expect(`,"turns":`) || !d.int(&a.Turns) || !d.expect(`,"last_turn":`) || !d.int(&a.LastTurn) ||
		!d.expect(`,"failures":`) || !d.int(&a.Failures) || !d.expect(`,"tokens":`) || !d.int64(&a.Tokens) ||
		!d.expect(`,"avg_ms":`) || !d.int64(&a.AvgMS) || !d.expect(`,"unread":`) || !d.int(&a.Unread) {
		return false
	}
	if d.expect(`,"urgent":`) {
		d.int(&a.Urgent)
	}
	if !d.expect(`,"followed":{"last":`) || !d.int(&a.Followed.Last) ||
		!d.expect(`,"last_two":`) || !d.int(&a.Followed.LastTwo) || !d.expect("}") {
		return false
	}
	if d.expect(`,"confidence":`) {
		f := d.Float()
		a.Confidence = &f
	}
	if d.expect(`,"bid":`) {
		a.Bid = d.bid()
	}
	return d.expect("}")
}

// eventInOrder reads an event as [Input.AppendJSON] writes it.
func (d *inputDecoder) eventInOrder(e *Event) bool {
	if !d.expect(`{"seq":`) || !d.int64(&e.Seq) || !d.expect(`,"turn":`) || !d.int(&e.Turn) ||
		!d.expect(`,"from":`) || !d.str(&e.From) || !d.expect(`,"to":`) || !d.strs(&e.To) ||
		!d.expect(`,"kind":`) || !d.str(&e.Kind) || !d.expect(`,"text":`) || !d.str(&e.Text) ||
		!d.expect(`,"truncated":`) {
		return false
	}
	e.Truncated = d.Bool()
	return d.expect(`,"mentions":`) && d.strs(&e.Mentions) && d.expect(`,"addressed":`) && d.strs(&e.Addressed) &&
		d.expect(`,"bytes":`) && d.int(&e.Bytes) && d.expect("}")
}

// expect passes s if it comes next.
func (r *Reader) expect(s string) bool {
	p := r.p
	if len(r.b)-p < len(s) || string(r.b[p:p+len(s)]) != s {
		return false
	}
	r.p = p + len(s)
	return true
}

func (d *inputDecoder) str(to *string) bool  { *to = d.String(); return true }
func (d *inputDecoder) int(to *int) bool     { *to = int(d.Int()); return true }
func (d *inputDecoder) int64(to *int64) bool { *to = d.Int(); return true }

func (d *inputDecoder) strs(to *[]string) bool {
	*to = (*to)[:0]
	if !d.expect("[]") {
		*to = d.appendStrings(*to)
	}
	return true
}
