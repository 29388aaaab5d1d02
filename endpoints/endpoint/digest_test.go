package endpoint

import (
	"reflect"
	"strconv"
	"testing"
)

// TestDigestCoversEverything changes each field in turn. It fails for a field
// of Prompt that is missing in Digest.
func TestDigestCoversEverything(t *testing.T) {
	base := Digest(sample())
	seen := map[string]string{base: "nothing"}
	p := sample()
	eachField(t, "Prompt", reflect.ValueOf(&p).Elem(), func(path string) {
		d := Digest(p)
		if path == "Prompt.Timeout" {
			if d != base {
				t.Error("Timeout is in the digest")
			}
			return
		}
		if other, ok := seen[d]; ok {
			t.Errorf("changing %s gives the digest of changing %s", path, other)
		}
		seen[d] = path
	})
	if Digest(p) != base || Digest(sample()) != base {
		t.Error("the same prompt has two digests")
	}
}

// eachField changes every leaf of v, calls f, and restores it.
func eachField(t *testing.T, path string, v reflect.Value, f func(path string)) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachField(t, path+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
		return
	case reflect.Slice:
		old := v.Interface()
		for i := range v.Len() {
			eachField(t, path+"["+strconv.Itoa(i)+"]", v.Index(i), f)
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		f(path + " longer")
		v.Set(reflect.ValueOf(old))
		return
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		t.Fatalf("%s: no way to change a %s; teach this test and Digest", path, v.Kind())
	}
	f(path)
	v.Set(old)
}

// TestDigestSeparatesFields checks that fields do not run into each other, and
// that the digest stays as logs have it.
func TestDigestSeparatesFields(t *testing.T) {
	a, b := Prompt{Room: "ab", Session: "c"}, Prompt{Room: "a", Session: "bc"}
	if Digest(a) == Digest(b) {
		t.Error("moving a letter between fields changes nothing")
	}
	const want = "0227d2125874ba9f10c58bd470c2d3669c92311ee7686f172299793efedee297" // of the zero prompt, as logs have it
	if got := Digest(Prompt{}); got != want {
		t.Errorf("Digest(Prompt{}) = %s, want %s", got, want)
	}
}

// TestDigesterCachesTextsOnly checks that a Digester gives each prompt the digest
// that Digest gives it.
func TestDigesterCachesTextsOnly(t *testing.T) {
	var d Digester
	for i := range 3 * maxSums {
		p := sample()
		p.Turn = i
		p.History = append(p.History, Line{Seq: int64(i), From: "a", Text: strconv.Itoa(i % (maxSums + 7))})
		if got, want := d.Digest(p), Digest(p); got != want {
			t.Fatalf("prompt %d: %s, alone %s", i, got, want)
		}
		if len(d.sums) > maxSums {
			t.Fatalf("%d texts are kept", len(d.sums))
		}
	}
}
