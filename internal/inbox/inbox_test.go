package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
	"github.com/folkmoot/moot/room/calls"
	"github.com/folkmoot/moot/room/log"
)

// stored is a log of rooms of which each has one event at its end.
type stored struct {
	ends    map[string][]room.Body // newest last
	held    map[string]int
	damaged map[string]bool
	reads   int
}

func (s *stored) Rooms(context.Context) ([]log.Info, error) {
	var infos []log.Info
	for id, end := range s.ends {
		i := log.Info{Room: id, Last: uint64(len(end))}
		if s.damaged[id] {
			i.Damage = errors.New("damaged")
		}
		infos = append(infos, i)
	}
	if len(s.damaged) > 0 {
		return infos, errors.New("some rooms are damaged")
	}
	return infos, nil
}

func (s *stored) Holder(id string) int { return s.held[id] }

func (s *stored) Read(_ context.Context, id string, after log.Pos, page int) ([]log.Entry, error) {
	s.reads++
	var entries []log.Entry
	for i, b := range s.ends[id][after.Seq:] {
		if i < page {
			entries = append(entries, log.Entry{Event: room.Event{Body: b}})
		}
	}
	return entries, nil
}

func newInbox(l *stored, runs ...string) *inbox.Inbox {
	return inbox.New(inbox.Config{
		Log: l,
		State: func(_ context.Context, id string) (*room.State, error) {
			return &room.State{Spec: room.Spec{Room: id}, Phase: room.PhasePaused, Turn: &room.Turn{
				Number: 3, Participant: "ann", Draft: &room.Draft{Hash: "h", Message: room.Message{Text: "hello", To: "bob"}, Why: "manual", At: time.Unix(5, 0)},
				Requests: []room.PermissionRequest{{ID: "3.1"}},
			}}, nil
		},
		Runs: func(id string) bool { return strings.Contains(strings.Join(runs, " "), id) },
	})
}

func ids(t *testing.T, b *inbox.Inbox) string {
	t.Helper()
	items, err := b.Items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range items {
		out = append(out, x.ID)
	}
	return strings.Join(out, " ")
}

// TestStored: the drafts of stored rooms wait, unless another process runs the room,
// and a log is read again only when it has grown.
func TestStored(t *testing.T) {
	said := room.MessagePosted{Turn: 0}
	long := []room.Body{room.TurnDrafted{Turn: 1}}
	for range 200 {
		long = append(long, said)
	}
	l := &stored{
		held: map[string]int{"held": 7}, damaged: map[string]bool{"damaged": true},
		ends: map[string][]room.Body{
			"draft": {room.TurnGranted{}, room.TurnDrafted{}, said}, "edit": {room.TurnEdited{}, room.Paused{}}, "long": long,
			"posted": {room.TurnDrafted{}, room.MessagePosted{Turn: 1}}, "rejected": {room.TurnDrafted{}, room.TurnRejected{}}, "none": {room.Opened{}},
			"held": {room.TurnDrafted{}}, "damaged": {room.TurnDrafted{}}, "runs": {room.TurnDrafted{}},
		},
	}
	b := newInbox(l, "runs")
	if got := ids(t, b); got != "draft/h edit/h long/h" {
		t.Errorf("there wait %s", got)
	}
	before := l.reads
	if ids(t, b); l.reads != before {
		t.Errorf("%d reads of logs that have not grown", l.reads-before)
	}
	l.ends["draft"] = append(l.ends["draft"], room.TurnRejected{})
	if got := ids(t, b); got != "edit/h long/h" {
		t.Errorf("after a rejection there wait %s", got)
	}
	if changes, err := b.Follow(false).Changes(t.Context()); err != nil || len(changes) > 0 || len(b.Running()) > 0 {
		t.Errorf("in rooms that run there wait %+v, %v", changes, err)
	}
	items, _ := b.Items(t.Context())
	want := inbox.Item{ID: "edit/h", Kind: inbox.Draft, Room: "edit", Agent: "ann", Turn: 3, Since: time.Unix(5, 0), Phase: "paused", To: "bob", Text: "hello", Why: "manual"}
	if !reflect.DeepEqual(items[0], want) {
		t.Errorf("got %+v", items[0])
	}
}

func asks(id string, since int64) room.PermissionRequest {
	return room.PermissionRequest{ID: id, At: time.Unix(since, 0), Timeout: time.Minute, Permission: room.Permission{Kind: "execute", Command: "make"}}
}

// TestFollow: a follower gets what waits and what changes, and of what has ended who
// answered it.
func TestFollow(t *testing.T) {
	b := newInbox(&stored{}, "r1 r2")
	f := b.Follow(true)
	step := func(want string) {
		t.Helper()
		changes, err := f.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			switch {
			case c.Item != nil:
				got = append(got, "+"+c.Item.ID+" "+c.Item.Phase)
			case c.Ended.Answer != nil:
				got = append(got, "-"+c.Ended.ID+" "+c.Ended.Answer.What+" by "+c.Ended.Answer.By)
			default:
				got = append(got, "-"+c.Ended.ID)
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	step("")
	changed := f.Changed()
	w := room.Waiting{Room: "r1", Phase: room.PhaseLive, Turn: 1, Participant: "ann", Requests: []room.PermissionRequest{asks("1.1", 9), asks("1.2", 3)}}
	b.Update(w)
	b.Update(room.Waiting{Room: "r2", Phase: room.PhaseLive, Requests: []room.PermissionRequest{asks("4.1", 5)}})
	<-changed
	step("+r1/1.2 live, +r2/4.1 live, +r1/1.1 live")
	step("")
	w.Requests, w.Answers = w.Requests[1:], []room.Answer{{Of: "1.1", What: "allowed", By: "me"}}
	b.Update(w)
	b.Update(room.Waiting{Room: "r2"})
	changes, _ := f.Changes(t.Context())
	if len(changes) != 2 {
		t.Errorf("%d changes", len(changes))
	}
	b.Update(room.Waiting{Room: "r2", Phase: room.PhaseLive, Draft: &room.Draft{Hash: "h"}})
	step("+r2/h live")
	b.Update(room.Waiting{Room: "r2", Phase: room.PhasePaused, Draft: &room.Draft{Hash: "h"}})
	step("+r2/h paused")
	items, _ := b.Items(t.Context())
	if x := items[1]; x.ID != "r1/1.2" || x.Kind != inbox.Permission || !x.Until.Equal(time.Unix(63, 0)) || x.Permission.Command != "make" || x.Agent != "ann" {
		t.Errorf("the request is %+v", x)
	}
	b.Update(room.Waiting{Room: "r1", Answers: []room.Answer{{Of: "1.2", What: "denied", By: "host"}}})
	step("-r1/1.2 denied by host")
}

// TestAnswersKept: an Inbox remembers the newest 256 answers.
func TestAnswersKept(t *testing.T) {
	b := newInbox(&stored{}, "r1")
	f := b.Follow(true)
	w := room.Waiting{Room: "r1", Requests: []room.PermissionRequest{asks("1.1", 1)}}
	b.Update(w)
	if changes, _ := f.Changes(t.Context()); len(changes) != 1 {
		t.Fatal(changes)
	}
	w.Requests, w.Answers = nil, []room.Answer{{Of: "1.1", By: "me"}, {Of: "1.1", By: "host"}}
	for i := range 256 {
		w.Answers = append(w.Answers, room.Answer{Of: fmt.Sprint(i)})
	}
	b.Update(w)
	changes, _ := f.Changes(t.Context())
	if len(changes) != 1 || changes[0].Ended == nil || changes[0].Ended.Answer != nil {
		t.Errorf("got %+v", changes)
	}
}

// TestActs: each answer is an act of the room, and those that do not fit are refused.
func TestActs(t *testing.T) {
	for _, c := range []struct {
		item string
		a    inbox.Answer
		want room.Act
	}{
		{"1.2", inbox.Answer{Answer: inbox.Allow}, room.Permit{ID: "1.2", Allowed: true}},
		{"1.2", inbox.Answer{Answer: inbox.Approve}, room.Permit{ID: "1.2", Allowed: true}},
		{"1.2", inbox.Answer{Answer: inbox.Always}, room.Permit{ID: "1.2", Allowed: true, Always: true}},
		{"1.2", inbox.Answer{Answer: inbox.Deny, Reason: "no"}, room.Permit{ID: "1.2", Reason: "no"}},
		{"1.2", inbox.Answer{Answer: inbox.Reject}, room.Permit{ID: "1.2"}},
		{"1.2", inbox.Answer{Answer: inbox.Edit, Text: "x"}, nil},
		{"aa", inbox.Answer{Answer: inbox.Approve}, room.Approve{Draft: "aa"}},
		{"aa", inbox.Answer{Answer: inbox.Allow}, room.Approve{Draft: "aa"}},
		{"aa", inbox.Answer{Answer: inbox.Always}, nil},
		{"aa", inbox.Answer{Answer: inbox.Edit, Text: "x"}, room.Edit{Draft: "aa", Text: "x", Approve: true}},
		{"aa", inbox.Answer{Answer: inbox.Edit, Text: "x", Keep: true}, room.Edit{Draft: "aa", Text: "x"}},
		{"aa", inbox.Answer{Answer: inbox.Edit, Text: " "}, nil},
		{"aa", inbox.Answer{Answer: inbox.Reject, Reason: "no"}, room.Reject{Draft: "aa", Reason: "no"}},
		{"aa", inbox.Answer{}, nil},
		{"1.2", inbox.Answer{}, nil},
	} {
		got, err := c.a.Act(c.item)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%+v to %s is %+v, %v", c.a, c.item, got, err)
		}
	}
	for id, ok := range map[string]bool{"r1/1.2": true, "r1/": false, "/1.2": false, "r1": false, "r1/a/b": false} {
		_, _, err := inbox.Split(id)
		if p, coded := errors.AsType[*problem.Error](err); ok != (err == nil) || coded && p.Code != "INBOX-ID" {
			t.Errorf("%s: %v", id, err)
		}
	}
	if in, item, _ := inbox.Split("r1/1.2"); in != "r1" || item != "1.2" || !inbox.IsRequest(item) || inbox.IsRequest("aa") {
		t.Errorf("split into %s and %s", in, item)
	}
}

// TestChain: each item of a child room says who called whom.
func TestChain(t *testing.T) {
	chain := []calls.Link{{Agent: "lead", Room: "r1"}}
	items := inbox.ItemsOf(room.Waiting{Room: "r2", Participant: "dba", Chain: chain, Draft: &room.Draft{}, Requests: []room.PermissionRequest{{ID: "1.1"}}})
	for _, x := range items {
		if !reflect.DeepEqual(x.Chain, chain) {
			t.Errorf("%s has the chain %+v", x.ID, x.Chain)
		}
	}
	if len(items) != 2 {
		t.Errorf("%d items", len(items))
	}
}
