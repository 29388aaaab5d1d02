package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

// A room of two scripted agents.
func Example() {
	inTemporaryFolder(main)
	// Output:
	// ann: Hello, @bob!
	// bob: Hello, @ann!
}

// An agent and a policy in Go.
func ExampleConfig() {
	inTemporaryFolder(func() {
		host, err := moot.Open(moot.Config{
			Data: "rooms",
			Policies: map[string]moot.Policy{
				"first": moot.PolicyFunc(func(in *moot.Input) moot.Decision {
					for _, agent := range in.Agents {
						if agent.Eligible {
							return moot.Speak(agent.ID, "the first who may")
						}
					}
					return moot.Decline("nobody may")
				}),
			},
			Endpoints: map[string]func(context.Context, moot.Participant) (moot.Endpoint, error){
				"counter": func(_ context.Context, p moot.Participant) (moot.Endpoint, error) { return &counter{name: p.ID}, nil },
			},
		})
		if err != nil {
			log.Fatal(err)
		}
		defer host.Close()
		ctx := context.Background()
		r, err := host.Create(ctx, moot.Source{YAML: `
version: room/v1
objective: Count.
participants:
  - {id: one, mode: full_auto, endpoint: {kind: go, name: counter}}
  - {id: two, mode: full_auto, endpoint: {kind: go, name: counter}}
policy: {use: first}
limits: {maxTurns: 3}
`}, moot.Options{Headless: true})
		if err != nil {
			log.Fatal(err)
		}
		for update, err := range host.Watch(ctx, r.ID(), 0, room.UserVisible) {
			if err != nil {
				log.Fatal(err)
			}
			if update.Event == nil {
				continue
			}
			switch body := update.Event.Body.(type) {
			case room.MessagePosted:
				fmt.Println(body.Message.From, "says", body.Message.Text)
			case room.Stopped:
				fmt.Println(body.Reason)
			}
		}
	})
	// Output:
	// one says 1
	// one says 2
	// one says 3
	// limit maxTurns: 3 turns granted
}

// A counter is an agent that counts its turns.
type counter struct {
	name  string
	turns int
}

func (c *counter) Speak(context.Context, moot.Prompt, moot.Floor) (moot.Reply, error) {
	c.turns++
	return moot.Reply{Outcome: moot.Said, Text: fmt.Sprint(c.turns)}, nil
}

func (c *counter) Close() error { return nil }

// inTemporaryFolder runs f where it may write.
func inTemporaryFolder(f func()) {
	dir, err := os.MkdirTemp("", "embedding-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	f()
}
