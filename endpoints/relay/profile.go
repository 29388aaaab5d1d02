package relay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// Defaults of a Profile (one-to-one note; the rate is the relay's design).
const (
	DefaultConcurrent = 3
	DefaultHops       = 2
	DefaultPerMinute  = 6
	DefaultBurst      = 3
)

// A Profile says what an agent of this device may have to do with agents of
// others: the same four rules whether it asks or is asked. The zero Profile
// allows nothing.
type Profile struct {
	Name          string
	Allow         bool                // allow_shared_agent_calls
	Devices       []identity.DeviceID // allowed_shared_device_ids
	MaxConcurrent int                 // calls at a time; 0 is DefaultConcurrent
	MaxHops       int                 // devices that a request may have passed; 0 is DefaultHops
	PerMinute     int                 // calls a minute with one device; 0 is DefaultPerMinute
	Burst         int                 // calls at once after a pause; 0 is DefaultBurst
}

func (p Profile) withDefaults() Profile {
	for _, n := range []struct {
		have *int
		def  int
	}{{&p.MaxConcurrent, DefaultConcurrent}, {&p.MaxHops, DefaultHops}, {&p.PerMinute, DefaultPerMinute}, {&p.Burst, DefaultBurst}} {
		if *n.have <= 0 {
			*n.have = n.def
		}
	}
	return p
}

// begin is the trace of a request that this device sends to target on behalf
// of p: it goes on from the one that the prompt came with, if it came with
// one. The error says why it must not be sent.
func (p Profile) begin(self, target identity.DeviceID, came endpoint.Trace, id string) (t envelope.Trace, err error) {
	if err := p.trusts(target); err != nil {
		return t, err
	}
	limit := p.withDefaults().MaxHops
	if came.ID == "" {
		t, err = envelope.Start(id, self.String(), p.Name, target.String(), limit)
	} else {
		so := envelope.Trace{ID: came.ID, Hops: envelope.Hops(came.Hops), Origin: came.Origin, Profile: came.Profile, Path: came.Path}
		t, err = so.Forward(self.String(), target.String(), limit)
	}
	return t, traced(err, limit)
}

// admit says whether a request that came here from a device may be served, and
// returns its trace as this device counts it.
func (p Profile) admit(self, from identity.DeviceID, t *envelope.Trace) (endpoint.Trace, error) {
	if err := p.trusts(from); err != nil {
		return endpoint.Trace{}, err
	}
	limit := p.withDefaults().MaxHops
	c, err := envelope.Accept(t, self.String(), from.String(), limit)
	if err != nil {
		return endpoint.Trace{}, traced(err, limit)
	}
	return endpoint.Trace{ID: c.ID, Origin: c.Origin, Profile: c.Profile, Hops: int(c.Hops), Path: c.Path}, nil
}

// traced makes an error of a trace one with a fix.
func traced(err error, limit int) error {
	code, fix := "RELAY-LOOP", "take one of the agents out of the ring"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, envelope.ErrHops):
		code, fix = "RELAY-HOPS", fmt.Sprintf("let agents of fewer owners ask one another, or raise max_hop_count, now %d, on all sides", limit)
	case errors.Is(err, envelope.ErrTrace):
		fix = "the device that sent it has to say truly where it came from"
	}
	return &problem.Error{Code: code, What: "loop prevention: " + err.Error(), Fix: fix, Kind: endpoint.ErrDenied}
}

func (p Profile) trusts(d identity.DeviceID) error {
	switch {
	case !p.Allow:
		return deny("profile "+quote(p.Name)+" takes no part in calls between owners",
			"set allow_shared_agent_calls: true for it, under profiles: of the settings file")
	case !slices.Contains(p.Devices, d):
		return deny("profile "+quote(p.Name)+" is not for device "+d.Short()+"...",
			"add "+d.String()+" to its allowed_shared_device_ids, under profiles: of the settings file")
	}
	return nil
}

func deny(what, fix string) error {
	return &problem.Error{Code: "RELAY-DENIED", What: what, Fix: fix, Kind: endpoint.ErrDenied}
}

func quote(s string) string { return fmt.Sprintf("%q", endpoint.CleanLine(s, 80)) }
