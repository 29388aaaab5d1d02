package adaptive

// An Ablation leaves out a law, a factor or a feature of the policy until its result is
// called.
type Ablation struct {
	Name     string
	LeaveOut func() (restore func())
}

// Ablations returns those of the mixture, and those of the features of teams.
func Ablations() (mixture, features []Ablation) {
	orders, namings := [...]string{"recency", "airtime", "sequence"}, [...]string{"names mean nothing", "who is addressed", "who is named"}
	without := func(name string, out func(j int) bool) {
		mixture = append(mixture, Ablation{name, func() func() {
			was, sum := initial, 0.0
			for j := range initial {
				initial[j] *= indicator(!out(j))
				sum += initial[j]
			}
			for j := range initial {
				initial[j] /= sum
			}
			return func() { initial = was }
		}})
	}
	for h, name := range orders {
		without("all laws by "+name, func(j int) bool { return j/strengths == h })
	}
	for s, name := range namings {
		without("all laws "+name, func(j int) bool { return j%strengths == s })
	}
	set := func(name string, f *float64, to float64) {
		mixture = append(mixture, Ablation{name, func() func() {
			was := *f
			*f = to
			return func() { *f = was }
		}})
	}
	set("tools after code", &codeFactor, 1)
	set("the fixed share", &sharedWeight, 0)
	for kind, name := range [kinds]string{
		"by recency", "by airtime", "addressed", "tool after code", "newcomer",
		"after the last speaker and whom it named", "words", "words by recency",
	} {
		features = append(features, Ablation{name, func() func() {
			leftOut[kind] = true
			return func() { leftOut[kind] = false }
		}})
	}
	return mixture, features
}
