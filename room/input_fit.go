package room

import "github.com/folkmoot/moot/policies/policy"

// fit keeps in within [policy.MaxInput], whatever its texts become in JSON:
// the oldest events go first. An objective and constraints that leave no room
// for events are cut.
func fit(in policy.Input) policy.Input {
	if atMost(&in) <= policy.MaxInput || size(in) <= policy.MaxInput {
		return in
	}
	in.Truncated = true
	all, keep := in.Events, 0
	if in.Events = nil; size(in) > policy.MaxInput/2 {
		shorten(&in)
	}
	for most := len(all); keep < most; { // the largest number of events that fits
		n := (keep + most + 1) / 2
		in.Events = all[len(all)-n:]
		if size(in) <= policy.MaxInput {
			keep = n
		} else {
			most = n - 1
		}
	}
	in.Events = all[len(all)-keep:]
	return in
}

// shorten cuts what a room was opened with.
func shorten(in *policy.Input) {
	in.Objective = cut(in.Objective, maxObjective)
	constraints, left := in.Constraints, maxObjective
	in.Constraints = nil
	for _, c := range constraints {
		if len(c) <= left {
			in.Constraints = append(in.Constraints, c)
			left -= len(c)
		}
	}
}

// maxObjective is what is left of an objective, and of the constraints, that
// are too long.
const maxObjective = 32 << 10

func size(in policy.Input) int { return len(in.AppendJSON(nil)) }

// atMost is a bound of the size of in that costs no encoding: a byte of text
// becomes six at most.
func atMost(in *policy.Input) int {
	n := 6*len(in.Objective) + len(in.Config) + len(in.State) + 4096
	for _, c := range in.Constraints {
		n += 6*len(c) + 3
	}
	for i := range in.Agents {
		a := &in.Agents[i]
		n += 6*(len(a.ID)+len(a.Name)+len(a.Role)) + listed(a.Domains) + 1024
		if a.Bid != nil {
			n += 6 * len(a.Bid.Reason)
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		n += 6*(len(e.From)+len(e.Text)) + listed(e.To) + listed(e.Mentions) + listed(e.Addressed) + 512
	}
	return n
}

// listed bounds what a list takes.
func listed(ids []string) int {
	n := 0
	for _, id := range ids {
		n += 6*len(id) + 3
	}
	return n
}
