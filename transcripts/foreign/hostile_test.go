package foreign

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/folkmoot/moot/transcripts"
)

// zipped returns a zip of names and contents, given in pairs.
func zipped(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err == nil {
			_, err = io.WriteString(w, pairs[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	slackUsers    = `[{"id":"U1","name":"ana","profile":{"display_name":"Ana"}},{"id":"U2","name":"dba","is_bot":true,"profile":{"display_name":""}}]`
	slackChannels = `[{"id":"C1","name":"shop","purpose":{"value":"the old table"}}]`
)

// TestSlack reads threads, bots, mentions and entries that are not messages.
func TestSlack(t *testing.T) {
	day1 := `[{"type":"message","user":"U1","text":"<@U2> may we drop &lt;orders_old&gt;? see <https://x.example/a|the plan> in <#C1|shop> <!here>","ts":"1770000000.000100","thread_ts":"1770000000.000100"},
	 {"type":"message","user":"U1","text":"another matter","ts":"1770000050.000100"},
	 {"type":"message","user":"U2","text":"Not read for 90 days.","ts":"1770000060.000200","thread_ts":"1770000000.000100","parent_user_id":"U1"},
	 {"type":"message","subtype":"channel_join","user":"U3","text":"<@U3> has joined","ts":"1770000070.000000"}]`
	day2 := `[{"type":"message","subtype":"bot_message","bot_id":"B1","username":"ci","text":"","attachments":[{"fallback":"built","pretext":"","title":"Build 7","text":"for <@U1>"}],"ts":"1770090000.000000"},
	 {"type":"message","user":"U9","text":"who am I","ts":"1770090001.000000"},{"type":"message","user":"U1","text":"","files":[],"ts":"1770090002.000000"}]`
	content := zipped(t, "channels.json", slackChannels, "users.json", slackUsers, "shop/", "", "shop/2026-02-03.json", day2, "shop/2026-02-02.json", day1, "canvases.json", "[]")
	format, all, err := read(t, content, "dir/export.zip", "")
	if err != nil || format != Slack {
		t.Fatalf("%s, %v", format, err)
	}
	for _, c := range all {
		sound(t, c)
	}
	golden(t, "slack", told(all))
}

// TestInspectZip reads a log that is a zip. A damaged sample is left out and counted.
func TestInspectZip(t *testing.T) {
	const sample = `{"id":"a","epoch":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`
	in := zipped(t, "_journal/start.json", "{}", "samples/a_epoch_1.json", sample, "samples/b_epoch_1.json", `{"id":`, "samples/c_epoch_2.json", strings.Replace(sample, `"epoch":1`, `"epoch":2`, 1), "header.json", `{"eval":{"task":"t"}}`)
	f, all, err := readWith(t, in, "log.eval", Options{})
	if err != nil || f != Inspect || len(all) != 2 {
		t.Fatal(f, len(all), err)
	}
	for _, c := range all {
		sound(t, c)
	}
	if all[0].ID != "log/a" || all[1].ID != "log/a/2" || all[0].Objective() != "t" || len(all[1].Report.Faults) != 1 {
		t.Errorf("%s, %s, %q, %+v", all[0].ID, all[1].ID, all[0].Objective(), all[1].Report.Faults)
	}
	if _, _, err := read(t, in, "log.eval", Inspect); err == nil || code(t, err) != "TRANSCRIPT-SHAPE" {
		t.Errorf("strict: %v", err)
	}
	if _, _, err := read(t, zipped(t, "../samples/a.json", sample), "log.eval", Inspect); err == nil || code(t, err) != "TRANSCRIPT-ARCHIVE" {
		t.Errorf("%v", err)
	}
}

// TestSlackBots: an application that posts under several names is several participants.
func TestSlackBots(t *testing.T) {
	day := `[{"type":"message","subtype":"bot_message","bot_id":"B1","username":"build","text":"1","ts":"1.5"},{"type":"message","subtype":"bot_message","bot_id":"B1","username":"deploy","text":"2","ts":"2.5"},
	 {"type":"message","subtype":"bot_message","bot_id":"B1","username":"build","text":"3","ts":"3.5"},{"type":"message","subtype":"bot_message","username":"news","text":"4","ts":"4.5"}]`
	_, all, err := read(t, zipped(t, "shop/2026-02-02.json", day), "f.zip", "")
	if err != nil {
		t.Fatal(err)
	}
	sound(t, all[0])
	speakers := ""
	for _, turn := range all[0].Turns {
		speakers += turn.Speaker + " "
	}
	if speakers != "B1 B1/deploy B1 news " {
		t.Errorf("spoken by %s", speakers)
	}
}

// TestHostileArchives checks that malicious zips are refused.
func TestHostileArchives(t *testing.T) {
	day := `[{"type":"message","user":"U1","text":"x","ts":"1.0"}]`
	bomb := `[{"type":"message","user":"U1","ts":"1.0","text":"` + strings.Repeat("a", 8<<20) + `"}]`
	for name, c := range map[string]struct {
		zip  []byte
		code string
		what string
	}{
		"escape":      {zipped(t, "../shop/2026-02-02.json", day), "TRANSCRIPT-ARCHIVE", "leads out"},
		"inner dots":  {zipped(t, "shop/../../2026-02-02.json", day), "TRANSCRIPT-ARCHIVE", "leads out"},
		"absolute":    {zipped(t, "/shop/2026-02-02.json", day), "TRANSCRIPT-ARCHIVE", "leads out"},
		"backslashes": {zipped(t, `shop\2026-02-02.json`, day), "TRANSCRIPT-ARCHIVE", "leads out"},
		"twice":       {zipped(t, "shop/2026-02-02.json", day, "shop/2026-02-02.json", day), "TRANSCRIPT-ARCHIVE", "twice"},
		"bomb":        {zipped(t, "shop/2026-02-02.json", bomb), "TRANSCRIPT-ARCHIVE", "more than 100 times"},
		"many files":  {manyFiles(t), "TRANSCRIPT-SIZE", "more than 100000"},
		"no days":     {zipped(t, "a.txt", "x"), "TRANSCRIPT-FORMAT", "without files CHANNEL"},
		"bad day":     {zipped(t, "shop/2026-02-02.json", `{"a":`), "TRANSCRIPT-SHAPE", "invalid JSON"},
		"no ts":       {zipped(t, "shop/2026-02-02.json", `[{"type":"message"}]`), "TRANSCRIPT-SHAPE", `"ts" is missing`},
		"link":        {linked(t), "TRANSCRIPT-ARCHIVE", "neither a file nor a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(t, c.zip, "f.zip", "")
			if err == nil || code(t, err) != c.code || !strings.Contains(err.Error(), c.what) {
				t.Errorf("%v; want %s with %q", err, c.code, c.what)
			}
		})
	}
}

// TestWrongSize unpacks a file that is larger than the zip states.
func TestWrongSize(t *testing.T) {
	b := zipped(t, "shop/2026-02-02.json", `[`+strings.Repeat(" ", 4<<20)+`]`)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	a := archive{name: "f.zip", files: map[string]*zip.File{"x": z.File[0]}, left: 1 << 20}
	if _, err := a.read("x"); err == nil || code(t, err) != "TRANSCRIPT-SIZE" {
		t.Errorf("%v", err)
	}
}

// manyFiles returns a zip with more files than allowed.
func manyFiles(t *testing.T) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range maxFiles + 1 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// linked returns a zip with a symbolic link.
func linked(t *testing.T) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "shop/2026-02-02.json"}
	h.SetMode(os.ModeSymlink | 0o777)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.WriteString(w, "/etc/passwd")
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// endless repeats one byte without end.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// TestTooLarge checks that reading stops at the bound.
func TestTooLarge(t *testing.T) {
	_, err := Open(io.MultiReader(strings.NewReader("WEBVTT"), endless('\n')), "f", Options{})
	if err == nil || code(t, err) != "TRANSCRIPT-SIZE" {
		t.Errorf("%v", err)
	}
}

// TestCutGzip reads a truncated gzip file.
func TestCutGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "WEBVTT\n\n"+strings.Repeat("00:01.000 --> 00:02.000\nx\n\n", 20000))
	z.Close()
	_, err := Open(bytes.NewReader(b.Bytes()[:b.Len()/2]), "f", Options{})
	if err == nil || code(t, err) != "TRANSCRIPT-ARCHIVE" {
		t.Errorf("%v", err)
	}
}

// TestBounds checks that long ids and texts are shortened and counted, and that
// too many participants are refused.
func TestBounds(t *testing.T) {
	long := strings.Repeat("é", transcripts.MaxID)
	text := strings.Repeat("x", transcripts.MaxText+7)
	in := fmt.Sprintf(`[{"role":"user","name":%q,"content":%q},{"role":"user","name":%q,"content":"y"}]`, long+"1", text, long+"2")
	_, all, err := read(t, []byte(in), "f", "")
	if err != nil || len(all) != 1 || len(all[0].Participants) != 2 {
		t.Fatalf("%v, %d conversations", err, len(all))
	}
	sound(t, all[0])
	if r := all[0].Report; len(r.Changed) != 2 {
		t.Errorf("changed %+v", r.Changed)
	}
	var b strings.Builder
	for i := range transcripts.MaxParticipants + 1 {
		fmt.Fprintf(&b, "[10:00] <n%d> x\n", i)
	}
	if _, _, err := read(t, []byte(b.String()), "f", ""); err == nil || code(t, err) != "TRANSCRIPT-SIZE" {
		t.Errorf("%v", err)
	}
}

// TestInvalidText checks that invalid UTF-8 in text is replaced and counted.
func TestInvalidText(t *testing.T) {
	_, all, err := read(t, []byte("[10:00] <a> caf\xe9\n[10:01] <b> ok\n"), "f", "")
	if err != nil || all[0].Turns[0].Text != "caf\uFFFD" || len(all[0].Report.Changed) != 1 || all[0].Report.Changed[0].N != 1 {
		t.Errorf("%v: %s", err, told(all))
	}
}

// TestLineEnds reads lines with Windows line ends.
func TestLineEnds(t *testing.T) {
	for in, want := range map[string]Format{
		"1\r\n00:00:01,000 --> 00:00:02,000\r\nyes\r\n\r\n": SRT, "\ufeffWEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\nyes\r\n": WebVTT, "[10:00] <a> yes\r\n": IRC,
	} {
		format, all, err := read(t, []byte(in), "f", "")
		if err != nil || format != want || len(all[0].Turns) != 1 || all[0].Turns[0].Text != "yes" {
			t.Errorf("%q is read as %s, %v: %s", in, format, err, told(all))
		}
	}
}
