//go:build wasip1

// Command goplugin is a guest of knqyf263/go-plugin: the same decision on
// protocol buffers.
package main

import (
	"context"

	"github.com/folkmoot/moot/bench/guests/goplugin/proto"
)

func main() {}

func init() { proto.RegisterPolicy(polite{}) } // where this runtime wants it

type polite struct{}

func (polite) Decide(_ context.Context, in *proto.Input) (*proto.Decision, error) {
	from := ""
	if e := lastSaid(in); e != nil {
		from = e.From
		for _, id := range e.Addressed {
			for _, a := range in.Agents {
				if a.Id == id && a.Eligible && id != from {
					return &proto.Decision{Action: "speak", Agent: id, Reason: from + " addressed " + id}, nil
				}
			}
		}
	}
	if a := leastRecent(in, from); a != nil {
		return &proto.Decision{Action: "speak", Agent: a.Id, Reason: a.Id + " has been silent for longest"}, nil
	}
	return &proto.Decision{Action: "decline", Reason: "nobody else can speak now"}, nil
}

func lastSaid(in *proto.Input) *proto.Event {
	for i := len(in.Events) - 1; i >= 0; i-- {
		if k := in.Events[i].Kind; k == "message" || k == "human" {
			return in.Events[i]
		}
	}
	return nil
}

func leastRecent(in *proto.Input, except string) (best *proto.Agent) {
	for _, a := range in.Agents {
		if a.Eligible && a.Id != except && (best == nil || a.LastTurn < best.LastTurn) {
			best = a
		}
	}
	return best
}
