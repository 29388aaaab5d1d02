package policy

// Agent returns the agent with id, or nil.
func (in *Input) Agent(id string) *Agent {
	if i := in.Seat(id); i >= 0 {
		return &in.Agents[i]
	}
	return nil
}

// Seat returns the place of id in the roster, or -1.
func (in *Input) Seat(id string) int {
	for i := range in.Agents {
		if in.Agents[i].ID == id {
			return i
		}
	}
	return -1
}

// Soon reports whether an agent that cannot speak now will be able to without
// anybody doing anything: it cools down, or is at work.
func (a *Agent) Soon() bool { return a.Ineligible == "cooldown" || a.Ineligible == "busy" }

// Said reports whether somebody spoke: an agent or a person.
func (e *Event) Said() bool { return e.Kind == KindMessage || e.Kind == KindHuman }

// LastSaid returns the newest event in which somebody spoke, or nil when
// nobody did since the previous decision.
func (in *Input) LastSaid() *Event {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if in.Events[i].Said() {
			return &in.Events[i]
		}
	}
	return nil
}

// LastTurn returns the place in the roster of the agent that had the latest
// turn, or -1 before the first.
func (in *Input) LastTurn() int {
	last := -1
	for i := range in.Agents {
		if t := in.Agents[i].LastTurn; t > 0 && (last < 0 || t > in.Agents[last].LastTurn) {
			last = i
		}
	}
	return last
}

// LeastRecent returns the eligible agent that has been silent for longest,
// the first in the roster among equals, or nil. It passes over except.
func (in *Input) LeastRecent(except string) *Agent {
	var best *Agent
	for i := range in.Agents {
		a := &in.Agents[i]
		if a.Eligible && a.ID != except && (best == nil || a.LastTurn < best.LastTurn) {
			best = a
		}
	}
	return best
}

// Has reports whether all holds s.
func Has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}
