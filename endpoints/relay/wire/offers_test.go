package wire

import (
	"testing"

	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/internal/strict"
)

func FuzzOffered(f *testing.F) {
	for _, s := range []string{`{"profiles":["reviewer"]}`, `{"profiles":[]}`, `{"profiles":[""]}`, `{"profiles":null}`, `{"profiles":["a\u0000"],"more":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var o Offered
		if strict.Decode(b, envelope.MaxDepth, &o) != nil || o.Check() != nil {
			return
		}
		if len(o.Profiles) > MaxOffers {
			t.Fatalf("%d profiles", len(o.Profiles))
		}
		for _, name := range o.Profiles {
			if name == "" || len(name) > envelope.MaxName {
				t.Fatalf("%q", name)
			}
		}
	})
}
