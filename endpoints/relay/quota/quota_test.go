package quota

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/relaytest"
)

// TestQuota checks that the limits hold over rooms, processes and restarts: over
// quotas that count in one folder.
func TestQuota(t *testing.T) {
	dir, with := t.TempDir(), relaytest.NewID(t)
	now := time.Now()
	enter := func(p Profile, d identity.DeviceID) (func(), error) {
		q, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		q.now = func() time.Time { return now }
		return q.Enter(t.Context(), Serving, p, d, endpoint.Turn)
	}
	profile := Profile{Name: "coder"}
	var leaves []func()
	for range DefaultConcurrent {
		leave, err := enter(profile, with)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	if _, err := enter(profile, relaytest.NewID(t)); !errors.Is(err, endpoint.ErrLimited) || !strings.Contains(err.Error(), "RELAY-BUSY") {
		t.Errorf("a fourth call at once: %v", err)
	}
	for _, leave := range leaves {
		leave()
	}
	if _, err := enter(profile, with); !errors.Is(err, endpoint.ErrLimited) || !strings.Contains(err.Error(), "RELAY-RATE") {
		t.Errorf("a fourth call in a minute: %v", err)
	}
	if leave, err := enter(profile, relaytest.NewID(t)); err != nil { // the rate is per profile and device
		t.Error(err)
	} else {
		leave()
	}
	now = now.Add(-24 * time.Hour) // a clock that is set back must not give calls
	if _, err := enter(profile, with); err == nil {
		t.Error("a clock that was set back lets calls through")
	}
	now = now.Add(time.Minute)
	entered := 0
	for range 10 {
		if leave, err := enter(profile, with); err == nil {
			entered++
			leave()
		}
	}
	if entered != DefaultBurst {
		t.Errorf("%d calls after a minute of rest, want the burst of %d", entered, DefaultBurst)
	}
}

// TestAskingWaits checks that the asking side waits for its rate, unless the
// turn would be over by then.
func TestAskingWaits(t *testing.T) {
	q, err := Open(filepath.Join(t.TempDir(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	with := relaytest.NewID(t)
	profile := Profile{Name: "mine", PerMinute: 6000, Burst: 1}
	for range 3 { // 10 ms apart
		leave, err := q.Enter(t.Context(), Asking, profile, with, endpoint.Turn)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	profile.PerMinute = 1
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := q.Enter(ctx, Asking, profile, with, endpoint.Turn); !errors.Is(err, endpoint.ErrLimited) {
		t.Errorf("a rate that is beyond the deadline: %v", err)
	}
}

// TestIncomingTrace checks that the trace of another device must be true as far
// as this one knows.
func TestIncomingTrace(t *testing.T) {
	self, from, third := relaytest.NewID(t), relaytest.NewID(t), relaytest.NewID(t)
	ids := func(all ...identity.DeviceID) (s []string) {
		for _, d := range all {
			s = append(s, d.String())
		}
		return s
	}
	profile := Profile{Name: "theirs", Allow: true, Devices: []identity.DeviceID{from}}
	for name, c := range map[string]struct {
		trace *envelope.Trace
		ok    bool
	}{
		"direct":               {&envelope.Trace{ID: "t", Hops: 1, Origin: from.String(), Path: ids(from)}, true},
		"over a third":         {&envelope.Trace{ID: "t", Hops: 2, Origin: third.String(), Path: ids(third, from)}, true},
		"none":                 {nil, true}, // counts as the limit: served, and goes no further
		"too far":              {&envelope.Trace{ID: "t", Hops: 3, Origin: third.String(), Path: ids(third, relaytest.NewID(t), from)}, false},
		"states too many hops": {&envelope.Trace{ID: "t", Hops: 9, Origin: from.String(), Path: ids(from)}, false},
		"through this device":  {&envelope.Trace{ID: "t", Hops: 2, Origin: self.String(), Path: ids(self, from)}, false},
		"of another device":    {&envelope.Trace{ID: "t", Hops: 1, Origin: third.String(), Path: ids(third)}, false},
		"no path":              {&envelope.Trace{ID: "t", Hops: 1, Origin: from.String()}, false},
		"hidden ring":          {&envelope.Trace{ID: "t", Hops: 2, Origin: from.String(), Path: ids(from, from)}, false},
		"no count":             {&envelope.Trace{ID: "t", Origin: from.String(), Path: ids(from)}, true},
		"other origin":         {&envelope.Trace{ID: "t", Hops: 2, Origin: from.String(), Path: ids(third, from)}, false},
		"origin not in path":   {&envelope.Trace{ID: "t", Hops: 1, Origin: self.String(), Path: ids(from)}, false},
	} {
		if _, err := profile.Incoming(self, from, c.trace); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
