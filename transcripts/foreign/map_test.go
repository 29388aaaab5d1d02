package foreign

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/folkmoot/moot/problem"
)

func mapped(tb testing.TB, text string) *Map {
	tb.Helper()
	m, err := ParseMap(text)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// TestMap reads files of forms that no importer knows.
func TestMap(t *testing.T) {
	const three = "speaker=$.a,text=$.b,time=$.c"
	for name, c := range map[string]struct{ fields, in, want string }{
		"lines": {three, `{"a":"x","b":"1","c":"2026-01-02T03:04:05Z"}` + "\n" + `{"a":"y","b":"2","c":null}`, "# f (map): 2 pieces, 2 turns, 0 joined\nagent \"x\" name=\"\" role=\"\"\nagent \"y\" name=\"\" role=\"\"\n0 x 2026-01-02T03:04:05Z: 1\n1 y: 2\n"},
		"list":  {"speaker=a, text=b", `[{"a":"x","b":"1"},{"a":7,"b":8}]`, "# f (map): 2 pieces, 2 turns, 0 joined\nagent \"x\" name=\"\" role=\"\"\nagent \"7\" name=\"\" role=\"\"\n0 x: 1\n1 7: 8\n"},
		"found": {three, `{"meta":{"n":1},"data":{"ids":[1],"log":[{"a":"x","b":"1","c":1.5}]}}`, "# f (map): 1 pieces, 1 turns, 0 joined\nagent \"x\" name=\"\" role=\"\"\n0 x 1.5s: 1\n"},
		"each": {
			"each=$.talks[*].said,speaker=$.who.name,text=$.parts[*].text,to=$.to,kind=$.role,name=$.who['full name'],conversation=$.talk",
			`{"talks":[{"said":[{"talk":"one","who":{"name":"x","full name":"X"},"role":"user","parts":[{"text":"1"},{},{"text":"2"}],"to":["y","z"]}]},{"said":[{"talk":"two","who":{"name":"y"},"parts":[{"text":"3"}],"to":"x"}]}]}`,
			"# one (map): 1 pieces, 1 turns, 0 joined\nhuman \"x\" name=\"X\" role=\"\"\nagent \"y\" name=\"\" role=\"\"\nagent \"z\" name=\"\" role=\"\"\n0 x -> y, z: 1⏎2\n# two (map): 1 pieces, 1 turns, 0 joined\nagent \"y\" name=\"\" role=\"\"\nagent \"x\" name=\"\" role=\"\"\n0 y -> x: 3\n",
		},
		"index":  {"speaker=$[0],text=$[1]", `[["x","1"],["y","2"]]`, "# f (map): 2 pieces, 2 turns, 0 joined\nagent \"x\" name=\"\" role=\"\"\nagent \"y\" name=\"\" role=\"\"\n0 x: 1\n1 y: 2\n"},
		"millis": {three, `[{"a":"x","b":"1","c":1770000000123},{"a":"x","b":"2","c":"1770000001"},{"a":"x","b":"3","c":"soon"}]`, "# f (map): 3 pieces, 3 turns, 0 joined\nchanged 1: time that cannot be read\nagent \"x\" name=\"\" role=\"\"\n0 x 2026-02-02T02:40:00.123Z: 1\n1 x 2026-02-02T02:40:01Z: 2\n2 x: 3\n"},
		"gaps":   {three, `[{"a":"x"},{"b":"1"},{"a":"x","b":"2"},7]`, "# f (map): 4 pieces, 1 turns, 0 joined\nleft out 1: record without a text\nleft out 1: record without a speaker\nleft out 1: breaks its format\nagent \"x\" name=\"\" role=\"\"\n0 x: 2\n"},
		"csv":    {"speaker=$.Author,text=$.Message,time=$.Date", "Date;Author;Message\n2026-01-02 03:04;x;\"1; 2\n3\"\n2026-01-02 03:05;y;4\n;z;5;6\n", "# f (map): 3 pieces, 2 turns, 0 joined\nleft out 1: breaks its format\nagent \"x\" name=\"\" role=\"\"\nagent \"y\" name=\"\" role=\"\"\n0 x 2026-01-02T03:04:00Z: 1; 2⏎3\n1 y 2026-01-02T03:05:00Z: 4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, all, err := readWith(t, []byte(c.in), "f", Options{Map: mapped(t, c.fields)})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range all {
				sound(t, x)
			}
			if got := told(all); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	for in, want := range map[string]string{`[{"x":1}]`: "TRANSCRIPT-EMPTY", `{"a":`: "TRANSCRIPT-SHAPE", ``: "TRANSCRIPT-SHAPE", `7`: "TRANSCRIPT-EMPTY"} {
		if _, _, err := readWith(t, []byte(in), "f", Options{Map: mapped(t, three)}); err == nil || code(t, err) != want {
			t.Errorf("%q: %v", in, err)
		}
	}
	if _, _, err := readWith(t, []byte("[7]"), "f", Options{Map: mapped(t, three), Strict: true}); err == nil || code(t, err) != "TRANSCRIPT-SHAPE" {
		t.Errorf("strict: %v", err)
	}
}

// TestParseMap refuses maps that name nothing.
func TestParseMap(t *testing.T) {
	for text, want := range map[string]string{
		"": "is none of", "speaker=$.a": "needs speaker and text", "speaker=$.a,text=$.b,mood=$.c": "is none of", "speaker=$.a,speaker=$.b,text=$.c": "twice",
		"speaker=$.,text=$.b": "a key is missing", "speaker=$[,text=$.b": "has no end", "speaker=$[x],text=$.b": "an index", "speaker=$[0]a,text=$.b": "followed by",
		`speaker=$["a,text=$.b`: "no end", "speaker=$" + strings.Repeat(".a", 40) + ",text=$.b": "over 32 steps",
	} {
		if _, err := ParseMap(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseMap(`speaker=$["a.b"][0].c,text=$['x y'],each=$`); err != nil {
		t.Error(err)
	}
}

// FuzzMap feeds maps and files of any form.
func FuzzMap(f *testing.F) {
	f.Add("speaker=$.a,text=$.b[*],time=$.c", `{"x":[{"a":"x","b":["1"],"c":1}]}`)
	f.Add("each=$[0],speaker=a,text=b,conversation=c", "a,b,c\n1,2,3\n")
	f.Fuzz(func(t *testing.T, fields, in string) {
		m, err := ParseMap(fields)
		if err != nil {
			return
		}
		_, all, err := readWith(t, []byte(in), "fuzz", Options{Map: m})
		for _, c := range all {
			sound(t, c)
		}
		if p, ok := errors.AsType[*problem.Error](err); err != nil && (!ok || p.Where == "" || p.Code == "") {
			t.Errorf("not a problem with a place: %v", err)
		}
	})
}

// TestPlainValues: values of all kinds have a text.
func TestPlainValues(t *testing.T) {
	for in, want := range map[string]string{`"x"`: "x", `""`: "", `1.50`: "1.50", `true`: "true", `null`: "", `{"a": 1}`: `{"a":1}`} {
		if got := (value{raw: json.RawMessage(in)}).plain(); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}
