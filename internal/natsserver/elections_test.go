package natsserver

import (
	"testing"
	"time"
)

// TestElections checks that the variables are those of the servers: a variable that this
// package only shares by its name with another one is zero at first.
func TestElections(t *testing.T) {
	if minElectionTimeout == 0 || maxElectionTimeout == 0 {
		t.Fatal("the servers have no such variables any more")
	}
	ShortenElections()
	if minElectionTimeout != electionAfter || maxElectionTimeout != electionBefore || electionAfter < 2*time.Second {
		t.Errorf("elections begin after %s to %s; a leader sends a heartbeat every second", minElectionTimeout, maxElectionTimeout)
	}
}
