// Package politejson is the author kit's policy "polite" on encoding/json. It
// declares only the fields that it reads, which is less work than reading the
// whole input.
package politejson

import "encoding/json"

// An Input is the part of a policy's input that the decision needs.
type Input struct {
	Agents []Agent `json:"agents"`
	Events []Event `json:"events"`
}

// An Agent is one seat.
type Agent struct {
	ID       string `json:"id"`
	Eligible bool   `json:"eligible"`
	LastTurn int    `json:"last_turn"`
}

// An Event is what was said.
type Event struct {
	From      string   `json:"from"`
	Kind      string   `json:"kind"`
	Addressed []string `json:"addressed"`
}

// A Decision is the answer.
type Decision struct {
	Action string `json:"action"`
	Agent  string `json:"agent,omitempty"`
	Reason string `json:"reason"`
}

// Answer decodes an input, decides, and encodes the decision.
func Answer(input []byte) ([]byte, error) {
	var in Input
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	return json.Marshal(decide(&in))
}

func decide(in *Input) Decision {
	from := ""
	if e := lastSaid(in); e != nil {
		from = e.From
		for _, id := range e.Addressed {
			for i := range in.Agents {
				if a := &in.Agents[i]; a.ID == id && a.Eligible && id != from {
					return Decision{"speak", id, from + " addressed " + id}
				}
			}
		}
	}
	if a := leastRecent(in, from); a != nil {
		return Decision{"speak", a.ID, a.ID + " has been silent for longest"}
	}
	return Decision{Action: "decline", Reason: "nobody else can speak now"}
}

func lastSaid(in *Input) *Event {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if k := in.Events[i].Kind; k == "message" || k == "human" {
			return &in.Events[i]
		}
	}
	return nil
}

func leastRecent(in *Input, except string) (best *Agent) {
	for i := range in.Agents {
		a := &in.Agents[i]
		if a.Eligible && a.ID != except && (best == nil || a.LastTurn < best.LastTurn) {
			best = a
		}
	}
	return best
}
