package room_test

import (
	"strings"
	"testing"

	"github.com/folkmoot/moot/room"
)

// TestMessageSource checks where a message may come from, and that its session is
// part of its identity.
func TestMessageSource(t *testing.T) {
	b := opened(t, "a b me/human")
	say := func(do room.Say) (room.Message, error) {
		before := len(b.log)
		if err := b.act(room.ActorHost, do); err != nil || len(b.log) == before {
			return room.Message{}, err
		}
		return b.log[before].Body.(room.MessagePosted).Message, nil
	}
	for _, c := range []struct {
		do   room.Say
		want string
	}{
		{room.Say{Text: "a"}, "user"},
		{room.Say{Text: "a", Source: "user"}, "user"},
		{room.Say{Text: "a", Source: "applet"}, "applet"},
		{room.Say{Text: "a", Source: "agent"}, "agent"},
		{room.Say{Text: "a", Source: "agent", FromSession: "r_1.bot"}, "agent"},
		{room.Say{Text: "a", Source: "system"}, ""},
		{room.Say{Text: "a", Source: "applet", Applet: "ci"}, "applet"},
		{room.Say{Text: "a", Applet: "ci"}, ""},
		{room.Say{Text: "a", FromSession: "r_1.bot"}, ""},
		{room.Say{Text: "a", Source: "applet", FromSession: "r_1.bot"}, ""},
		{room.Say{Text: "a", Source: "agent", FromSession: "r\n1"}, ""},
		{room.Say{Text: "a", Source: "agent", FromSession: strings.Repeat("x", 129)}, ""},
	} {
		m, err := say(c.do)
		if (err == nil) != (c.want != "") || m.Source != c.want || err == nil && (m.FromSession != c.do.FromSession || m.Applet != c.do.Applet) {
			t.Errorf("%+v: source %q of session %q, %v", c.do, m.Source, m.FromSession, err)
		}
	}
	one := room.Say{Text: "a", Source: "agent", FromSession: "r_1.bot", MessageID: "m"}
	if _, err := say(one); err != nil {
		t.Fatal(err)
	}
	if again, err := say(one); err != nil || again.ID != "" {
		t.Errorf("the message again: %+v, %v", again, err)
	}
	named := room.Say{Text: "a", Source: "applet", Applet: "ci", MessageID: "n"}
	if _, err := say(named); err != nil {
		t.Fatal(err)
	}
	if again, err := say(named); err != nil || again.ID != "" {
		t.Errorf("the message again: %+v, %v", again, err)
	}
	named.Applet = "cron"
	if _, err := say(named); err == nil {
		t.Error("another applet repeats the message")
	}
	one.FromSession = "r_2.bot"
	if _, err := say(one); err == nil {
		t.Error("another session repeats the message")
	}
}
