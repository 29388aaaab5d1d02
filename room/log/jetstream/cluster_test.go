package jetstream_test

import (
	"testing"

	"github.com/folkmoot/moot/room/log/logtest"
)

// TestConformanceCluster runs the suite on three servers with three replicas. Damage
// is tested elsewhere: the other replicas hide it.
func TestConformanceCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("servers elect leaders for seconds")
	}
	s := startServers(t, 3)
	logtest.Run(t, logtest.Engine{Shared: true, Open: s.open})
}
