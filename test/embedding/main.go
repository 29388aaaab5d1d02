// Command embedding hosts a room of two scripted agents and prints what they
// say. It is the program of the README.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/folkmoot/moot"
	"github.com/folkmoot/moot/room"
)

const greeting = `
version: room/v1
objective: Say hello.
participants:
  - {id: ann, mode: full_auto, endpoint: {kind: scripted, lines: ["Hello, @bob!"]}}
  - {id: bob, mode: full_auto, endpoint: {kind: scripted, lines: ["Hello, @ann!"]}}
policy: {use: roundrobin}
limits: {maxTurns: 2}
`

func main() {
	host, err := moot.Open(moot.Config{Data: "rooms"})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	r, err := host.Create(context.Background(), moot.Source{YAML: greeting}, moot.Options{Headless: true})
	if err != nil {
		log.Fatal(err)
	}
	for update, err := range r.Watch(context.Background(), 0, room.UserVisible) {
		if err != nil {
			log.Fatal(err)
		}
		if e := update.Event; e != nil {
			if said, ok := e.Body.(room.MessagePosted); ok {
				fmt.Printf("%s: %s\n", said.Message.From, said.Message.Text)
			}
		}
	}
}
