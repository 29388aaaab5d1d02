package pack

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	mine, other := Public(newKey(t)).String(), Public(newKey(t)).String()
	sum := func(c string) string { return strings.Repeat(c, 64) }
	l := &Lock{}
	l.Set(Locked{"polite", "1.2.0", sum("a"), mine})
	l.Set(Locked{"open", "1.0.0", sum("b"), ""})
	for name, c := range map[string]struct {
		e    Locked
		want string
		says string
	}{
		"the same":              {Locked{"polite", "1.2.0", sum("a"), mine}, "", ""},
		"newer":                 {Locked{"polite", "1.10.0", sum("c"), mine}, "", ""},
		"another policy":        {Locked{"rude", "0.0.1", sum("c"), ""}, "", ""},
		"signed from now on":    {Locked{"open", "1.0.1", sum("c"), mine}, "", ""},
		"older":                 {Locked{"polite", "1.1.9", sum("c"), mine}, "POL-PACK-OLDER", "is locked at 1.2.0, which is newer"},
		"its release candidate": {Locked{"polite", "1.2.0-rc.1", sum("c"), mine}, "POL-PACK-OLDER", "newer"},
		"older and unsigned":    {Locked{"open", "0.9.0", sum("b"), ""}, "POL-PACK-OLDER", "newer"},
		"changed":               {Locked{"polite", "1.2.0", sum("c"), mine}, "POL-PACK-CHANGED", "other bytes"},
		"another key":           {Locked{"polite", "1.3.0", sum("c"), other}, "POL-PACK-KEY", "is signed with key"},
		"no key any more":       {Locked{"polite", "1.3.0", sum("c"), ""}, "POL-PACK-KEY", "is not signed"},
	} {
		if err := l.Admit("it", c.e); code(err) != c.want || c.want != "" && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.want, c.says)
		}
	}
	if !l.Drop("polite") || l.Drop("polite") || l.Admit("it", Locked{"polite", "0.0.1", sum("d"), other}) != nil {
		t.Error("what was forgotten is remembered")
	}
}

func TestLockFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := ReadLock(dir)
	if err != nil || len(l.Policies) > 0 {
		t.Fatalf("of an empty folder: %v, %v", l, err)
	}
	l.Set(Locked{"b", "1.0.0", strings.Repeat("1", 64), Public(newKey(t)).String()})
	l.Set(Locked{"a", "2.0.0", strings.Repeat("2", 64), ""})
	if err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := ReadLock(dir)
	if err != nil || len(again.Policies) != 2 || again.Policies[0].Name != "a" || *again.Find("b") != *l.Find("b") {
		t.Errorf("read %+v, %v", again, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	entry := `{"name":"a","version":"1.0.0","sha256":"` + strings.Repeat("0", 64) + `"`
	for text, says := range map[string]string{
		``:                                 "unexpected end",
		`x`:                                "invalid character",
		`{"lock_version":2,"policies":[]}`: "lock_version is 2",
		`{"lock_version":1,"policies":[` + entry + `},` + entry + `}]}`:            "there twice",
		`{"lock_version":1,"policies":[` + entry + `,"name":"b"}]}`:                "duplicate key \"name\"",
		`{"lock_version":1,"policies":[` + entry + `,"Key":"b"}]}`:                 "unknown key",
		`{"lock_version":1,"policies":[` + entry + `,"url":"b"}]}`:                 "unknown key",
		`{"lock_version":1,"policies":[` + entry + `,"key":"b"}]}`:                 "the key of a is none",
		`{"lock_version":1,"policies":[{"name":"../a","version":"1.0.0"}]}`:        "is not one",
		`{"lock_version":1,"policies":[]} {}`:                                      "after top-level value",
		`{"lock_version":1,"policies":[{"name":"a","version":"1","sha256":"00"}]}`: "is not one",
		"{\"lock_version\":1,\"policies\":[],\"\xff\":1}":                          "invalid UTF-8",
	} {
		if err := os.WriteFile(filepath.Join(dir, LockName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLock(dir); code(err) != "POL-LOCK" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := NewStore(filepath.Join(t.TempDir(), "policies"))
	if all, err := s.List(); err != nil || len(all) > 0 {
		t.Errorf("of no folder: %v, %v", all, err)
	}
	file := written(t, polite("1.0.0"))
	digest, err := s.Put("polite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put("polite", file); err != nil {
		t.Errorf("twice: %v", err)
	}
	newer, err := s.Put("polite", written(t, polite("1.1.0")))
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Get("polite", digest)
	if err != nil || p.Manifest.Version != "1.0.0" {
		t.Fatalf("got %+v, %v", p, err)
	}
	if all, err := s.List(); err != nil || len(all) != 2 || all[0].Name != "polite" {
		t.Errorf("listed %v, %v", all, err)
	}
	// Another policy's pack under this name, and altered bytes.
	wrong, err := s.Put("rude", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("rude", wrong); code(err) != "POL-PACK-DIGEST" {
		t.Errorf("under another name: %v", err)
	}
	if err := os.WriteFile(s.Path("polite", newer), file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("polite", newer); code(err) != "POL-PACK-DIGEST" {
		t.Errorf("altered: %v", err)
	}
	if _, err := s.Get("polite", strings.Repeat("0", 64)); code(err) != "POL-PACK-NONE" {
		t.Errorf("absent: %v", err)
	}
	if _, err := s.Get("polite", "../../x"); code(err) != "POL-PACK-NONE" {
		t.Errorf("a path: %v", err)
	}
	for i, want := range []bool{true, false} {
		if ok, err := s.Remove("polite", digest); ok != want || err != nil {
			t.Errorf("removed, time %d: %v, %v", i+1, ok, err)
		}
	}
}

// TestNothingIsLeft: a pack that cannot be put in its place leaves no trace.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "policies")
	s := NewStore(dir)
	file := written(t, polite("1.0.0"))
	taken := s.Path("polite", Digest(file))
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o700); err != nil { // a folder cannot be replaced by a file
		t.Fatal(err)
	}
	if _, err := s.Put("polite", file); code(err) != "POL-STORE" {
		t.Fatalf("put over a folder: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "polite")); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	// The order of semver.org, section 11, between what is no version and more.
	order := []string{
		"1.0", "0.0.1", "0.1.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.9.0", "1.10.0", "10.0.0",
	}
	for i, a := range order {
		for j, b := range order {
			if got := CompareVersions(a, b); got != cmp.Compare(i, j) {
				t.Errorf("%s to %s: %d", a, b, got)
			}
		}
	}
	for _, no := range []string{"", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0+x", "1.0.0-", "1.0.0-a..b", "1.0.0-01", "1.0.-1", "9999999999.0.0", "1.0.0\n"} {
		if ValidVersion(no) {
			t.Errorf("%q is taken", no)
		}
	}
}

func TestManifestRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`"name":"Polite"`:              "is not lower-case",
		`"name":"a--b"`:                "single dashes",
		`"name":"a","version":"1"`:     "of the form 1.2.3",
		`"name":"a","min_host":"x"`:    "min_host",
		`"name":"a","wasm":"../x"`:     "the module is policy.wasm",
		`"name":"a","sha256":"A"`:      "64 hexadecimal",
		`"name":"a","Author":"A"`:      "unknown key",
		`"name":"a","name":"A"`:        "duplicate key",
		`"name":"a","colour":"A"`:      "unknown key",
		`"name":"a","input":{"x":1}`:   "unknown key",
		`"name":"a","limits":{"x":1}`:  "unknown key",
		`"name":"a","default_config":`: "invalid character",
		`"name":"a","config_schema":` + strings.Repeat("[", 100) + strings.Repeat("]", 100): "nests deeper",
		`"name":"a","config_schema":{"a":1,"a":2}`:                                          "duplicate key",
		`"name":"a","input":{"history_events":501}`:                                         "0 to 500",
		`"name":"a","input":{"max_text_bytes":-1}`:                                          "max_text_bytes is -1",
		`"name":"a","description":"` + strings.Repeat("x", 501) + `"`:                       "at most 500 bytes",
		`"name":"a","config_schema":{"d":"` + strings.Repeat("x", MaxManifest) + `"}`:       "at most 262144",
	} {
		text = `{"abi":1,` + text + `}`
		if !strings.Contains(text, `"version"`) {
			text = strings.Replace(text, `,`, `,"version":"1.0.0",`, 1)
		}
		if _, err := ParseManifest("it", []byte(text)); code(err) != "POL-MANIFEST" || !strings.Contains(err.Error(), says) {
			t.Errorf("%.90s: %v, want %q", text, err, says)
		}
	}
	if _, err := ParseManifest("it", []byte(`{"abi":1,"name":"a","version":"1.0.0","config_schema":{"camelCase":{"X":1}},"default_config":{"aB":1}}`)); err != nil {
		t.Errorf("settings may be called as they like: %v", err)
	}
}
