package policy

// Agent returns the agent with the given id, or nil.
func (in *Input) Agent(id string) *Agent {
	if i := in.Seat(id); i >= 0 {
		return &in.Agents[i]
	}
	return nil
}

// Seat returns the index of the agent id in in.Agents, or -1.
func (in *Input) Seat(id string) int {
	for i := range in.Agents {
		if in.Agents[i].ID == id {
			return i
		}
	}
	return -1
}

// Soon reports whether an ineligible agent becomes eligible by itself: it is in
// its cooldown, or busy.
func (a *Agent) Soon() bool { return a.Ineligible == "cooldown" || a.Ineligible == "busy" }

// HandedOff returns the agent that the latest turn handed off to, and the reason
// for users. It returns nil if there was no hand-off, if the agent cannot be granted
// the turn now, or if a person has addressed an agent since: people come first.
func (in *Input) HandedOff() (to *Agent, why string) {
	h := in.Handoff
	if h == nil || in.personAsks(h.From) {
		return nil, ""
	}
	if to = in.Agent(h.To); to == nil || !to.Eligible {
		return nil, ""
	}
	if why = h.From + " hands off to " + h.To; h.Reason != "" {
		why += ": " + h.Reason
	}
	return to, why
}

// personAsks reports whether a person has addressed an agent since the latest
// message of the agent speaker.
func (in *Input) personAsks(speaker string) bool {
	for i := len(in.Events) - 1; i >= 0; i-- {
		e := &in.Events[i]
		if e.Kind == KindMessage && e.From == speaker {
			return false
		}
		for _, ids := range [2][]string{e.To, e.Addressed} {
			for _, id := range ids {
				if a := in.Agent(id); e.Kind == KindHuman && a != nil && a.Kind != Human {
					return true
				}
			}
		}
	}
	return false
}

// Said reports whether the event is a message of an agent or a person.
func (e *Event) Said() bool { return e.Kind == KindMessage || e.Kind == KindHuman }

// Silence reports whether participants could have spoken here and did not: a round
// was declined, or an agent passed its turn.
func (e *Event) Silence() bool { return e.Kind == KindDecline || len(e.Silent) > 0 }

// LastSaid returns the newest message of an agent or a person, or nil if there
// was none since the previous decision.
func (in *Input) LastSaid() *Event {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if in.Events[i].Said() {
			return &in.Events[i]
		}
	}
	return nil
}

// LastTurn returns the index of the agent that had the latest turn, or -1
// before the first turn.
func (in *Input) LastTurn() int {
	last := -1
	for i := range in.Agents {
		if t := in.Agents[i].LastTurn; t > 0 && (last < 0 || t > in.Agents[last].LastTurn) {
			last = i
		}
	}
	return last
}

// LastSpeaker returns the index of the last speaker, or -1: of the latest message
// since the previous decision, or else of the latest turn. A person without turns
// does not count. Otherwise a policy that takes the participants in order would give
// the agent after the person every second turn.
func (in *Input) LastSpeaker() int {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if e := &in.Events[i]; e.Said() {
			seat := in.Seat(e.From)
			if seat >= 0 && (in.Agents[seat].Kind != Human || in.Agents[seat].Turns > 0) {
				return seat
			}
		}
	}
	return in.LastTurn()
}

// LeastRecent returns the eligible agent whose latest turn is the oldest, or nil.
// It never returns the agent with the id except. Of equals it returns the first
// in the order of in.Agents.
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

// Has reports whether all contains s.
func Has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// Fits counts the domains of a that text mentions and returns the first of
// them.
func (a *Agent) Fits(text string) (n int, domain string) {
	for _, d := range a.Domains {
		if Mentions(text, d) {
			if n++; n == 1 {
				domain = d
			}
		}
	}
	return n, domain
}
