package training

import (
	"testing"

	"github.com/folkmoot/moot/policies/adaptive"
	"github.com/folkmoot/moot/policies/policy"
)

// BenchmarkNative is one decision in this process, from bytes to bytes.
func BenchmarkNative(b *testing.B) {
	for _, set := range []string{"whowhen", "meetings-ami", "meetings-committee", "llmafia", "irc-channels"} {
		b.Run(set, func(b *testing.B) {
			talks := shared(b, set).Talks
			all := inputs(b, adaptive.New(), talks[len(talks)/2], 2000)
			m := policy.NewModule(policy.Named{Name: "adaptive", Policy: adaptive.New()})
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				m.Decide(all[i%len(all)])
				i++
			}
		})
	}
}
