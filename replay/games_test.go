package replay_test

import "testing"

// TestSilenceInGames: in the shared games of an agent among people, adaptive says well
// whether the agent speaks, and with its default threshold it seldom speaks wrongly.
func TestSilenceInGames(t *testing.T) {
	if testing.Short() {
		t.Skip("decides over a whole shared set")
	}
	t.Parallel()
	p := replayShared(t, "llmafia", "adaptive").Policies[0]
	if p.EvenBalancedAccuracy < .65 {
		t.Errorf("%.1f %% balanced at even odds, want 65", 100*p.EvenBalancedAccuracy)
	}
	if p.FalseSpeaks > .1 || p.BalancedAccuracy < .62 {
		t.Errorf("by default %.1f %% false speaks and %.1f %% balanced, want 10 and 62", 100*p.FalseSpeaks, 100*p.BalancedAccuracy)
	}
}
