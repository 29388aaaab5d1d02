package coordinator_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/log/memory"
)

// TestLiveTools: people with control see the tool calls of the turn that runs, and
// nobody sees those of another owner's agent.
func TestLiveTools(t *testing.T) {
	for _, c := range []struct {
		name  string
		owner string
		level room.Visibility
		want  []coordinator.Update
	}{
		{"own", "", room.Internal, []coordinator.Update{{Participant: "a", Tool: &room.ToolCall{ID: "t1", Kind: "other", Title: "read plan.md"}}, {Participant: "a", Delta: "end"}}},
		{"own, of a reader", "", room.UserRedacted, nil},
		{"another owner's", "bob", room.Internal, []coordinator.Update{{Participant: "a", Delta: "end"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			attached, shown := make(chan struct{}), make(chan struct{})
			reads := func(_ context.Context, _ endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
				<-attached
				f.ShowTool(endpoint.ToolCall{ID: "t1", Title: "read plan.md\x1b[2J"})
				f.Show("end")
				<-shown // a watch that has read all events of an ended room does not wait for live text
				return endpoint.Reply{Outcome: endpoint.Said, Text: "done"}, nil
			}
			r := attended(t, &memory.Log{}, reads, room.Limits{MaxTurns: 1}, func(_ *coordinator.Config, _ *room.Spec, ps []room.Participant) { ps[0].Owner = c.owner })
			var got []coordinator.Update
			watched := make(chan struct{})
			go func() {
				defer close(watched)
				left := len(c.want)
				if left == 0 {
					close(shown)
				}
				for u := range r.Watch(t.Context(), 0, c.level) {
					if u.Event != nil {
						if u.Event.Seq == 1 {
							close(attached)
						}
						continue
					}
					got = append(got, u)
					if left--; left == 0 {
						close(shown)
					}
				}
			}()
			runToLimit(t, r)
			<-watched
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("seen: %+v", got)
			}
		})
	}
}
