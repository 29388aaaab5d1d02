package transcripts

import (
	"reflect"
	"testing"
)

// slow decodes as conversations were decoded before there was a fast way.
func slow(line []byte) (*Conversation, error) {
	c := &Conversation{}
	if err := decodeStrict(line, conversationShape, c); err != nil {
		return nil, err
	}
	return c, nil
}

// FuzzDecodeFast: what the fast way takes the strict way takes too, and both
// make the same of it.
func FuzzDecodeFast(f *testing.F) {
	for _, s := range []string{
		oneLine(planning), `{}`, `{"id":"a","id":"b"}`, `{"id":null,"turns":null}`, `{"ID":"a"}`, `{"id":"a","turns":[],"participants":[],"extra":{"a":1,"a":2}}`,
		`{"id":"\u00e9\ud83d\ude00","extra":[1e400,{"x":null}],"turns":[{"i":0,"speaker":"x","text":"\"\\","t_s":1e-3,"addressees":[]}]}`,
		`{"id":"a","extra":null} `, `{"id":"a","turns":[{"i":1.0}]}`, `{"id":"a"}x`, "{\"id\":\"\xff\"}", `{"id":"\ud800"}`, `[]`, `{"id":"a",}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fast := decodeFast(line)
		if fast == nil {
			return
		}
		strict, err := slow(line)
		if err != nil {
			t.Fatalf("the strict way refuses it: %v", err)
		}
		if !reflect.DeepEqual(fast, strict) {
			t.Fatalf("%+v, strictly %+v", fast, strict)
		}
	})
}

// TestDecodeFast: the usual line goes the fast way.
func TestDecodeFast(t *testing.T) {
	if decodeFast([]byte(oneLine(planning))) == nil {
		t.Error("a conversation with everything is taken for an odd one")
	}
}
