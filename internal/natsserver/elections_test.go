package natsserver

import (
	"testing"
	"time"
)

// before has the times before any test starts a server.
var before = [2]time.Duration{minElectionTimeout, maxElectionTimeout}

// TestElections checks that the variables are those of the servers: a variable that this
// package only shares by its name with another one is zero at first.
func TestElections(t *testing.T) {
	if before[0] == 0 || before[1] == 0 {
		t.Fatal("the servers have no such variables any more")
	}
	ShortenElections()
	if minElectionTimeout != electionAfter || maxElectionTimeout != electionBefore || electionAfter < 2*time.Second {
		t.Errorf("elections begin after %s to %s; a leader sends a heartbeat every second", minElectionTimeout, maxElectionTimeout)
	}
}
