package habit

import "github.com/folkmoot/moot/policies/policy"

// readState decodes the counts of the experts: {"right":[...],"picks":[id,...]}. A state
// that it cannot decode counts as none.
func readState(in *policy.Input) Experts {
	var x Experts
	if in.State == nil {
		return x
	}
	r, counts, picks := policy.NewReader(in.State), 0, 0
	for r.Object(); r.More(); {
		switch r.Key() {
		case "right":
			for r.Array(); r.More(); counts++ {
				if f := r.Float(); counts < len(x.right) {
					x.right[counts] = f
				}
			}
		case "picks":
			for r.Array(); r.More(); picks++ {
				if id := r.String(); picks < len(x.picks) {
					x.picks[picks] = in.Seat(id)
				}
			}
		default:
			r.Skip()
		}
	}
	if r.Err() != nil || counts != len(x.right) || picks != len(x.picks) {
		return Experts{}
	}
	x.asked = true
	return x
}

// save encodes x. Its size depends on the number of the experts only.
func (x *Experts) save(in *policy.Input) policy.JSON {
	var w policy.Writer
	w.Object()
	w.Key("right")
	w.Array()
	for _, f := range x.right {
		w.Float(f)
	}
	w.EndArray()
	w.Key("picks")
	w.Array()
	for _, seat := range x.picks {
		w.String(in.Agents[seat].ID)
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes()
}
