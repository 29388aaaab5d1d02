package cluster

import (
	"context"

	"github.com/folkmoot/moot/room/log"
)

// Locator returns a function that tells the address of the node that runs a room or, if no
// process does, to which it belongs. "" means that no node runs it. The function is nil
// if l is no log on servers, or has no nodes. It uses the registry as it is now. deviceOf is as
// in [Config].
func Locator(ctx context.Context, l any, deviceOf func(room string) string) (func(ctx context.Context, room string) string, error) {
	registry, ok := l.(log.Members)
	if !ok {
		return nil, nil
	}
	members, err := registry.Members(ctx)
	if err != nil {
		return nil, err
	}
	nodes := map[string]Peer{}
	var all []Peer
	for _, m := range members {
		if p, ok := peerOf(m); ok {
			nodes[p.ID], all = p, append(all, p)
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	return func(ctx context.Context, room string) string {
		id, err := registry.HeldBy(ctx, room)
		if err != nil || id != "" {
			return nodes[id].Address
		}
		best, _ := highest(all, room, deviceOf(room))
		return best.Address
	}, nil
}
