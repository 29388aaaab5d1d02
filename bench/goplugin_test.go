package bench

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/folkmoot/moot/bench/guests/goplugin/proto"
)

// goplugin is knqyf263/go-plugin, whose calls take and give messages. It has
// no fresh line: its Load compiles the module every time.
func goplugin() subject {
	return subject{"goplugin-reused/go-protobuf", func(tb testing.TB) func(testing.TB) call {
		ctx := context.Background()
		path := goGuest(tb, guestsHere+"goplugin")
		loader, err := proto.NewPolicyPlugin(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		return func(tb testing.TB) call {
			p, err := loader.Load(ctx, path)
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = p.Close(ctx) })
			in := asMessages()
			var said *proto.Decision
			var answer []byte // said as JSON, for those who look
			return func(ctx context.Context) ([]byte, error) {
				d, err := p.Decide(ctx, in)
				if err != nil {
					return nil, err
				}
				if said == nil || d.Action != said.Action || d.Agent != said.Agent || d.Reason != said.Reason {
					said = d
					answer, err = json.Marshal(map[string]string{"action": d.Action, "agent": d.Agent, "reason": d.Reason})
				}
				return answer, err
			}
		}
	}}
}
