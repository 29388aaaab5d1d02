package relaytest_test

import "testing"

// TestGroup: pairing, messages and spectators over three relays that are one, next
// to outages, restarts and faults of the network, are as over one.
func TestGroup(t *testing.T) {
	relaysOfTestbed = 3
	defer func() { relaysOfTestbed = 1 }()
	for name, test := range map[string]func(*testing.T){
		"hostile": TestHostile, "cuts": TestCuts, "restarts": TestRelayRestarts, "canaries": TestCanaries,
		"watch": TestWatchHostileRelay, "watch removed": TestWatchRemovedPeer, "untrusted host": TestWatchUntrustedHost,
	} {
		t.Run(name, test)
	}
}
