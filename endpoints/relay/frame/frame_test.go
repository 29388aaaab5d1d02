package frame

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite testdata/frames.txtar")

func fill(b byte) (id ID) { return ID(bytes.Repeat([]byte{b}, len(id))) }

var limits = Limits{MaxFrame: MaxPayload, Queue: 32, BytesPerSecond: 262144, Burst: 1048576, FramesPerSecond: 50, PingSeconds: 25}

// golden holds one frame of each kind, with the name of its file in testdata.
var golden = []struct {
	name string
	f    Frame
}{
	{"hello", Hello{Version, fill(0xc4), limits}},
	{"hello bound to tls", Hello{Version, fill(0xc4), Limits{1, 1, 1, 1, 1, 1, BindingExporter}}},
	{"login", Login{fill(0xd1), [64]byte(bytes.Repeat([]byte{0x51}, 64)), []byte("a token of 16 bytes")}},
	{"login without token", Login{fill(0xd1), [64]byte{}, []byte{}}},
	{"welcome", Welcome{limits}},
	{"reject", Reject{RejectTooMany, 6000}},
	{"send", Send{fill(0xd2), []byte{5, 1, 2, 3}}},
	{"recv", Recv{fill(0xd1), []byte{5, 1, 2, 3}}},
	{"gone", Gone{fill(0xd2), GoneQueueFull}},
	{"restart", Restart{1500, 60000}},
	{"health", Health{"replaced by a newer login"}},
}

// TestGolden compares the encoding of every kind with recorded bytes.
func TestGolden(t *testing.T) {
	const file = "testdata/frames.txtar"
	if *update {
		a := &txtar.Archive{Comment: []byte("The bytes of one frame of each kind, in hexadecimal.\n\n")}
		for _, g := range golden {
			b, err := Append(nil, g.f)
			if err != nil {
				t.Fatal(err)
			}
			a.Files = append(a.Files, txtar.File{Name: g.name, Data: []byte(wrap(hex.EncodeToString(b)))})
		}
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files) != len(golden) {
		t.Fatalf("%d frames in the file, %d here", len(a.Files), len(golden))
	}
	for i, g := range golden {
		want, err := hex.DecodeString(strings.ReplaceAll(string(a.Files[i].Data), "\n", ""))
		if err != nil || a.Files[i].Name != g.name {
			t.Fatalf("%s: %v", a.Files[i].Name, err)
		}
		got, err := Append(nil, g.f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is written\n%x\nnot\n%x (%v)", g.name, got, want, err)
		}
		if f, err := Decode(want); err != nil || !reflect.DeepEqual(f, g.f) {
			t.Errorf("%s is read as %+v, %v", g.name, f, err)
		}
	}
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 64 {
		b.WriteString(s[:64] + "\n")
		s = s[64:]
	}
	return b.String() + s + "\n"
}

// TestMalformed: Decode refuses frames that are short, long, unknown or not
// canonical.
func TestMalformed(t *testing.T) {
	hello := func(json string) string {
		return "\x01\x01" + strings.Repeat("c", 32) + json
	}
	const plain = `{"max_frame":1,"queue":1,"bytes_per_s":1,"burst":1,"frames_per_s":1,"ping_s":1}`
	for name, text := range map[string]string{
		"nothing":               "",
		"unknown kind":          "\x05",
		"kind 0":                "\x00",
		"too long":              "\x10" + strings.Repeat("x", MaxFrame),
		"hello cut":             "\x01\x01" + strings.Repeat("c", 31),
		"hello of version 2":    "\x01\x02" + strings.Repeat("c", 32) + plain,
		"hello without limits":  hello(""),
		"unknown key":           hello(strings.Replace(plain, "{", `{"more":1,`, 1)),
		"key twice":             hello(strings.Replace(plain, "{", `{"queue":1,`, 1)),
		"key in another case":   hello(strings.Replace(plain, "queue", "Queue", 1)),
		"missing key":           hello(strings.Replace(plain, `"queue":1,`, "", 1)),
		"spaces":                hello(strings.Replace(plain, ":", ": ", 1)),
		"something behind":      hello(plain + " "),
		"fraction":              hello(strings.Replace(plain, `queue":1`, `queue":1.0`, 1)),
		"limit 0":               hello(strings.Replace(plain, `queue":1`, `queue":0`, 1)),
		"limit below 0":         hello(strings.Replace(plain, `queue":1`, `queue":-1`, 1)),
		"limit over all bounds": hello(strings.Replace(plain, `queue":1`, `queue":2147483648`, 1)),
		"payload over bounds":   hello(strings.Replace(plain, `max_frame":1`, `max_frame":65537`, 1)),
		"unknown binding":       hello(strings.Replace(plain, `s":1}`, `s":1,"binding":"x"}`, 1)),
		"JSON too long":         hello(`{"max_frame":` + strings.Repeat(" ", maxJSON) + "1}"),
		"welcome in a list":     "\x03[]",
		"welcome null":          "\x03null",
		"login cut":             "\x02" + strings.Repeat("l", 95),
		"login too long":        "\x02" + strings.Repeat("l", 96+MaxToken+1),
		"reject cut":            "\x04\x00\x01\x00\x00\x00",
		"reject too long":       "\x04\x00\x01\x00\x00\x00\x00\x00",
		"reject code 0":         "\x04\x00\x00\x00\x00\x00\x00",
		"reject code 6":         "\x04\x00\x06\x00\x00\x00\x00",
		"send without device":   "\x10" + strings.Repeat("d", 31),
		"recv without device":   "\x11" + strings.Repeat("s", 31),
		"gone cut":              "\x12" + strings.Repeat("d", 32),
		"gone too long":         "\x12" + strings.Repeat("d", 32) + "\x00\x00",
		"gone reason 4":         "\x12" + strings.Repeat("d", 32) + "\x04",
		"restart cut":           "\x20" + strings.Repeat("r", 7),
		"restart too long":      "\x20" + strings.Repeat("r", 9),
		"health too long":       "\x21" + strings.Repeat("h", MaxText+1),
		"health not UTF-8":      "\x21\xff",
		"health with escape":    "\x21\x1b[2J",
		"health with a line":    "\x21a\nb",
		"health turned round":   "\x21\u202eabc",
	} {
		if f, err := Decode([]byte(text)); !errors.Is(err, ErrFrame) || f != nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestAppendRefuses: Append refuses frames that Decode would refuse.
func TestAppendRefuses(t *testing.T) {
	for _, f := range []Frame{
		Hello{},
		Welcome{},
		Reject{},
		Reject{Code: 6},
		Gone{Reason: 4},
		Login{Token: make([]byte, MaxToken+1)},
		Send{Payload: make([]byte, MaxPayload+1)},
		Recv{Payload: make([]byte, MaxPayload+1)},
		Health{strings.Repeat("h", MaxText+1)},
		Health{"\x00"},
	} {
		if b, err := Append(nil, f); !errors.Is(err, ErrFrame) || b != nil {
			t.Errorf("%T is written as %x, %v", f, b, err)
		}
	}
}

func TestReaddress(t *testing.T) {
	b, err := Append(nil, Send{fill(2), []byte("payload")})
	if err != nil || !IsSend(b) {
		t.Fatal(err)
	}
	if to := Readdress(b, fill(1)); to != fill(2) {
		t.Errorf("for %x", to)
	}
	if f, err := Decode(b); err != nil || !reflect.DeepEqual(f, Recv{fill(1), []byte("payload")}) {
		t.Errorf("%+v, %v", f, err)
	}
	if IsSend(b) || IsSend(b[:32]) || IsSend(nil) || IsSend(append([]byte{0x10}, make([]byte, MaxFrame)...)) {
		t.Error("IsSend accepts other bytes")
	}
}

// TestRoundTrip: decoding an encoded frame returns the same frame.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFrame().Draw(t, "frame")
		b, err := Append(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(b); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", f) {
			t.Fatalf("%+v, %v, want %+v", got, err, f)
		}
	})
}

func anyFrame() *rapid.Generator[Frame] {
	id := rapid.Custom(func(t *rapid.T) ID { return ID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "id")) })
	n := rapid.IntRange(1, maxLimit)
	lim := rapid.Custom(func(t *rapid.T) Limits {
		return Limits{
			rapid.IntRange(1, MaxPayload).Draw(t, "max"), n.Draw(t, "queue"), n.Draw(t, "bytes"), n.Draw(t, "burst"), n.Draw(t, "frames"), n.Draw(t, "ping"),
			rapid.SampledFrom([]string{"", BindingExporter}).Draw(t, "binding"),
		}
	})
	payload := rapid.SliceOfN(rapid.Byte(), 0, 200)
	return rapid.Custom(func(t *rapid.T) Frame {
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			return Hello{Version, id.Draw(t, "challenge"), lim.Draw(t, "limits")}
		case 1:
			return Login{id.Draw(t, "device"), [64]byte(rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "sig")), rapid.SliceOfN(rapid.Byte(), 0, MaxToken).Draw(t, "token")}
		case 2:
			return Welcome{lim.Draw(t, "limits")}
		case 3:
			return Reject{RejectCode(rapid.Uint16Range(1, 5).Draw(t, "code")), rapid.Uint32().Draw(t, "retry")}
		case 4:
			return Send{id.Draw(t, "to"), payload.Draw(t, "payload")}
		case 5:
			return Recv{id.Draw(t, "from"), payload.Draw(t, "payload")}
		case 6:
			return Gone{id.Draw(t, "to"), GoneReason(rapid.ByteRange(0, 3).Draw(t, "reason"))}
		case 7:
			return Restart{rapid.Uint32().Draw(t, "in"), rapid.Uint32().Draw(t, "for")}
		}
		return Health{rapid.StringMatching(`[ -~äß€]{0,60}`).Draw(t, "text")}
	})
}

// FuzzDecode: an accepted frame encodes to the same bytes, and nothing panics.
func FuzzDecode(f *testing.F) {
	for _, g := range golden {
		b, err := Append(nil, g.f)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b)
		if err != nil {
			if v != nil || !errors.Is(err, ErrFrame) {
				t.Fatalf("%v, %v", v, err)
			}
			return
		}
		if again, err := Append(nil, v); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x is written back as %x, %v", b, again, err)
		}
		if _, send := v.(Send); send != IsSend(b) {
			t.Fatal("IsSend differs from Decode")
		}
	})
}

func TestHost(t *testing.T) {
	for raw, want := range map[string]string{
		"wss://Relay.Example.org":           "relay.example.org",
		"wss://relay.example.org:443/path/": "relay.example.org",
		"wss://relay.example.org:7447":      "relay.example.org:7447",
		"ws://127.0.0.1:80":                 "127.0.0.1",
		"ws://relay.example.org:443":        "relay.example.org:443",
		"ws://[::1]:7447":                   "[::1]:7447",
		"wss://[2001:DB8:0::1]":             "[2001:db8::1]",
	} {
		u, err := ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := Host(u); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	for _, raw := range []string{
		"", "relay.example.org", "http://relay.example.org", "wss://", "wss:///path", "wss:relay", "wss://user:pass@relay.example.org",
		"wss://relay.example.org?x=1", "wss://relay.example.org#x", "wss://räley.example.org", "wss://a b", "wss://" + strings.Repeat("a", 254), "wss://a\x00b",
	} {
		if u, err := ParseURL(raw); !errors.Is(err, ErrFrame) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	for raw, want := range map[string]bool{
		"ws://127.0.0.1:1": true, "ws://127.9.9.9": true, "ws://[::1]": true, "ws://LOCALHOST:1": true, "ws://[::ffff:127.0.0.1]": true,
		"ws://relay.example.org": false, "ws://192.0.2.1": false, "ws://localhost.example.org": false, "ws://127.0.0.1.example.org": false, "ws://0.0.0.0": false,
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Loopback(u); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

// TestLoginMessage fixes the signed bytes.
func TestLoginMessage(t *testing.T) {
	c := fill(1)
	want := "moot-relay/1 login\x00relay.example.org" + string(c[:]) + "binding"
	if got := LoginMessage("relay.example.org", c[:], []byte("binding")); string(got) != want {
		t.Errorf("%q", got)
	}
}
