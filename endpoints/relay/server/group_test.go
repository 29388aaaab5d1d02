package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/relay/bus"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
	"github.com/folkmoot/moot/endpoints/relay/server"
)

// groupSettings say of how many relays the groups consist that start starts.
type groupSettings struct {
	size   int
	nats   *relaytest.NATS
	groups int
}

// groups is nil while start starts one relay.
var groups *groupSettings

// inGroups runs tests with each relay replaced by a group, to whose relays
// endpoints connect in turn.
func inGroups(t *testing.T, size int, tests map[string]func(*testing.T)) {
	groups = &groupSettings{size: size, nats: relaytest.StartNATS(t, "")}
	defer func() { groups = nil }()
	for name, test := range tests {
		t.Run(name, test)
	}
}

// join returns a function that makes the bus of one more relay of a new group: over
// a NATS server, or in memory for tests under synctest.
func (s *groupSettings) join(t testing.TB, memory bool) func() server.Bus {
	s.groups++
	hub, url := relaytest.NewBusHub(), s.nats.URL(fmt.Sprint("group", s.groups))
	return func() server.Bus {
		if memory {
			return hub.Join()
		}
		return connectBus(t, url)
	}
}

// connectBus connects to NATS until the test ends.
func connectBus(t testing.TB, url string) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(bus.Config{URL: url, Timeout: time.Minute}) // a busy machine loses no frame
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestGroups: several relays promise what one does.
func TestGroups(t *testing.T) {
	tests := map[string]func(*testing.T){
		"passes": TestPasses, "send freeze": TestSendFreeze, "slow reader": TestSlowReaderIsClosed, "queue bounds": TestQueueBounds,
		"sender filter": TestSenderFilter, "disconnected": TestDisconnected, "rates": TestRates, "pings": TestPings, "control flood": TestControlFlood,
		"violations": TestViolations, "restart": TestRestart, "restart with frozen": TestRestartWithFrozen, "counters": TestCounters,
		"log": TestLogHoldsNoSecrets, "identity": TestIdentityLogsIn, "logins are free": TestLoginsAreFree, "duplicate login": TestDuplicateLogin,
	}
	for _, size := range []int{2, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { inGroups(t, size, tests) })
	}
}
