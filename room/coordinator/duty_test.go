package coordinator_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/coordinator"
	"github.com/folkmoot/moot/room/kinds"
	"github.com/folkmoot/moot/room/log"
	"github.com/folkmoot/moot/room/log/memory"
)

// prompts runs a room with these roles and one message of a person for one turn of each
// agent. It returns the log and the prompts, in the order of the turns.
func prompts(t *testing.T, roles ...string) (*memory.Log, []string) {
	l := &memory.Log{}
	ps, sent := agents("a", "b", "c")[:len(roles)], []string{}
	for i, role := range roles {
		ps[i].Role = role
	}
	ps = append(ps, room.Participant{ID: "me", Kind: policy.Human})
	cfg := config(l, func(in policy.Input) policy.Decision {
		if in.Turn == 1 && !slices.ContainsFunc(in.Events, func(e policy.Event) bool { return e.From == "me" }) {
			return policy.Decline("nothing was said")
		}
		return policy.Speak(in.Agents[(in.Turn-1)%len(roles)].ID, "next")
	}, func(ctx context.Context, p endpoint.Prompt, f endpoint.Floor) (endpoint.Reply, error) {
		sent = append(sent, p.Text)
		return count(ctx, p, f)
	})
	r, err := coordinator.Open(t.Context(), cfg, spec(room.Limits{MaxTurns: len(roles)}), ps)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- r.Run(t.Context()) }()
	synctest.Wait() // the objective is the first message
	if _, err := r.Do(t.Context(), room.Command{Actor: "me", Do: room.Say{Text: "Use Go.", To: "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return l, sent
}

// TestDuties: the manager and the workers of a room are told what their roles send. The
// manager gets the id of a person's request, and for which worker it is. A room without
// one of the two parts has the prompts that it always had.
func TestDuties(t *testing.T) {
	for _, c := range []struct{ roles, duties []string }{
		{[]string{"manager", "worker", "specialist:db"}, []string{"manager", "worker", "worker"}},
		{[]string{"manager", "worker", "writes Go"}, []string{"manager", "worker", ""}},
		{[]string{"manager", "writes Go"}, []string{"", ""}},
		{[]string{"worker", "writes Go"}, []string{"", ""}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, sent := prompts(t, c.roles...)
			for i, text := range sent {
				lead, worker := strings.Contains(text, "\nYOUR ROLE\nYou are the manager."), strings.Contains(text, "\nYOUR ROLE\nYou work for the manager.")
				if lead != (c.duties[i] == endpoint.DutyManager) || worker != (c.duties[i] == endpoint.DutyWorker) {
					t.Errorf("%v, agent %d: manager %v, worker %v", c.roles, i, lead, worker)
				}
				request := strings.Contains(text, `request, from "me" (same owner as you), to "a", for "b", message_id "`)
				if request != (c.duties[i] == endpoint.DutyManager) {
					t.Errorf("%v, agent %d: the id of the request %v in\n%s", c.roles, i, request, text)
				}
			}
			if len(sent) != len(c.roles) {
				t.Errorf("%d prompts", len(sent))
			}
		})
	}
}

// ofRequests is what the manager is told of the requests of people and of the host.
var ofRequests = regexp.MustCompile(`(, for "\w+")?, message_id "[^"]+"`)

// TestDutiesOfOldTurns: the log says whether a prompt told the duty. Without that, as in
// logs of earlier versions, the same prompt is made again without it.
func TestDutiesOfOldTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := prompts(t, "manager", "worker")
		old, at := &memory.Log{}, log.Pos{}
		for _, e := range events(t, l) {
			if b, ok := e.Body.(room.TurnGranted); ok {
				b.Window.Duty = ""
				e.Body = b
			}
			next, _, err := old.Append(t.Context(), "r1", at, e.At, e)
			if err != nil {
				t.Fatal(err)
			}
			at = next
		}
		for i, text := range sent {
			again, granted, _, err := coordinator.GrantedPrompt(t.Context(), l, "r1", i+1)
			if err != nil || again.Text != text || endpoint.Digest(text) != granted.Prompt {
				t.Errorf("turn %d: %v, and the prompt is\n%s", i+1, err, again.Text)
			}
			before, role, ok := strings.Cut(text, "\nYOUR ROLE\n")
			_, after, found := strings.Cut(role, "\n\n")
			want := before + "\n" + after
			if i == 0 {
				want = ofRequests.ReplaceAllString(want, "")
			}
			if got, _, _, err := coordinator.GrantedPrompt(t.Context(), old, "r1", i+1); err != nil || !ok || !found || got.Text != want {
				t.Errorf("turn %d: %v, without the duty it is\n%s\nwant\n%s", i+1, err, got.Text, want)
			}
		}
	})
}

func between(s, begin, end string) string {
	_, s, _ = strings.Cut(s, begin)
	s, _, _ = strings.Cut(s, end)
	return s
}

// TestDutiesNameTheirKinds: a duty names each kind that the table lets its role send, and
// no other one as its own.
func TestDutiesNameTheirKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, sent := prompts(t, "manager", "worker")
		for i, party := range []kinds.Party{kinds.Manager, kinds.Worker} {
			duty := between(sent[i], "\nYOUR ROLE\n", "\n\n")
			for _, r := range kinds.Rules() {
				if !kinds.Typed(r.Kind) || r.From == kinds.Nobody || r.Kind == kinds.Ack {
					continue
				}
				listed := false
				for line := range strings.Lines(duty) {
					names, _, item := strings.Cut(strings.TrimPrefix(line, "  - "), ":")
					listed = listed || item && strings.HasPrefix(line, "  - ") && strings.Contains(" "+strings.ReplaceAll(names, ",", " ")+" ", " "+r.Kind+" ")
				}
				if listed != (r.From&party != 0) {
					t.Errorf("%s: listed %v in\n%s", r.Kind, listed, duty)
				}
			}
			if n := len(duty); n > 2000 {
				t.Errorf("a duty of %s", fmt.Sprint(n, " bytes"))
			}
		}
	})
}
