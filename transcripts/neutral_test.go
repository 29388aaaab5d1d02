package transcripts

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// neutral exports a room in the neutral format, and reads that.
func neutral(t *testing.T, events []room.Event, level Level) (string, *Conversation) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNeutral(&b, each(chainOf(t, events)), level); err != nil {
		t.Fatal(err)
	}
	for c, err := range ReadConversations(bytes.NewReader(b.Bytes()), "neutral") {
		if err != nil {
			t.Fatal(err)
		}
		return b.String(), c
	}
	t.Fatal("no conversation")
	return "", nil
}

// TestNeutralOfRoom: a room in the neutral format has its messages, its silences, what its
// turns have used and how it has ended. Imported and exported again it is the same.
func TestNeutralOfRoom(t *testing.T) {
	events := meeting()
	for _, x := range []struct {
		level  Level
		second string // text of the internal message
	}{{All, "edited " + secretWord}, {UserVisible, ""}} {
		line, c := neutral(t, events, x.level)
		if x.level != All && strings.Contains(line, secretWord) {
			t.Errorf("level %s shows what is hidden: %s", x.level, line)
		}
		var got []string
		for _, u := range c.Turns {
			got = append(got, u.Speaker)
		}
		second := c.Turns[1]
		if want := []string{"yuki", "dba", "sec"}; !reflect.DeepEqual(got, want) || second.Text != x.second || second.Channel != ChannelThought || second.Usage.Output != 20 || *second.Seconds != 100 {
			t.Errorf("turns of %v, the second is %+v", got, second)
		}
		declined, passed := 110.0, 170.0
		want := []Decision{{Before: 2, Decision: Declines, Seconds: &declined}, {Before: 3, Agent: "dba", Decision: Declines, Seconds: &passed}}
		if !reflect.DeepEqual(c.Decisions, want) {
			t.Errorf("decisions %+v, want %+v", c.Decisions, want)
		}
		if n := c.Numbers()["completed"]; c.Objective() != "Decide about the *migration*" || !strings.Contains(string(c.Extra), `"completed":false`) || n != 0 {
			t.Errorf("extra %s", c.Extra)
		}
		again, _ := neutral(t, c.Events(), All)
		if got, want := withoutExtra(t, again), withoutExtra(t, line); got != want { // an imported room has no end
			t.Errorf("imported and exported:\n%s\nwant\n%s", got, want)
		}
	}
}

func withoutExtra(t *testing.T, line string) string {
	t.Helper()
	var c map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatal(err)
	}
	delete(c, "extra")
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNeutralHost: the host that posts a message becomes a participant, and an addressee
// that is none is left out.
func TestNeutralHost(t *testing.T) {
	b := eventBuilder{}
	b.add(room.ActorHost, room.Opened{Spec: room.Spec{Room: "r_2"}})
	b.add(room.ActorHost, room.MessagePosted{Message: room.Message{ID: "m1", From: "host", To: "gone", Kind: room.KindUtterance, Visibility: room.UserVisible, Text: "hi"}})
	if line, c := neutral(t, b.events, UserVisible); len(c.Participants) != 1 || c.Participants[0].Kind != KindHuman || c.Turns[0].Addressees != nil || c.Extra != nil {
		t.Error(line)
	}
}

// TestConversationAt: readers at a lower level see no text of thoughts, and all else.
func TestConversationAt(t *testing.T) {
	c := &Conversation{ID: "x", Turns: []Turn{{Speaker: "a", Text: "secret", Channel: ChannelThought}, {I: 1, Speaker: "a", Text: "open"}}}
	if seen := c.At(UserVisible); seen.Turns[0].Text != "" || seen.Turns[1].Text != "open" || c.At(Internal).Turns[0].Text != "secret" {
		t.Errorf("%+v", seen)
	}
	if err := c.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "missing or empty") {
		t.Errorf("a conversation that cannot be read again: %v", err)
	}
}
