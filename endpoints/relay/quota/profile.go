package quota

import (
	"errors"
	"fmt"
	"slices"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/envelope"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/problem"
)

// Defaults of a Profile.
const (
	DefaultConcurrent = 3
	DefaultHops       = 2
	DefaultPerMinute  = 6
	DefaultBurst      = 3
)

// A Profile holds the sharing rules of one agent of this device. The rules are
// the same for requests that the agent's room sends and for requests that the
// agent serves. The zero Profile allows nothing.
type Profile struct {
	Name          string
	Allow         bool                // allowSharedAgentCalls
	Devices       []identity.DeviceID // allowedSharedDeviceIds
	MaxConcurrent int                 // calls at a time; 0 is DefaultConcurrent
	MaxHops       int                 // devices that a request may have passed; 0 is DefaultHops
	PerMinute     int                 // calls a minute with one device; 0 is DefaultPerMinute
	Burst         int                 // calls at once after a pause; 0 is DefaultBurst
}

// WithDefaults returns p with defaults in place of zeros.
func (p Profile) WithDefaults() Profile {
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

// Outgoing returns the trace of a request that the device self sends to target
// on behalf of p. It continues came, the trace of the prompt, or begins a trace
// with the given id if came is zero. Its error wraps endpoint.ErrDenied: the
// rules do not allow the request.
func (p Profile) Outgoing(self, target identity.DeviceID, came endpoint.Trace, id string) (t envelope.Trace, err error) {
	if err := p.allows(target); err != nil {
		return t, err
	}
	limit := p.WithDefaults().MaxHops
	if came.ID == "" {
		t, err = envelope.Start(id, self.String(), p.Name, target.String(), limit)
	} else {
		so := envelope.Trace{ID: came.ID, Hops: envelope.Hops(came.Hops), Origin: came.Origin, Profile: came.Profile, Path: came.Path}
		t, err = so.Forward(self.String(), target.String(), limit)
	}
	return t, traceError(err, limit)
}

// Incoming returns the trace of a request that reached the device self from
// another, as self counts it. Its error wraps endpoint.ErrDenied: the rules do
// not allow the request.
func (p Profile) Incoming(self, from identity.DeviceID, t *envelope.Trace) (endpoint.Trace, error) {
	if err := p.allows(from); err != nil {
		return endpoint.Trace{}, err
	}
	limit := p.WithDefaults().MaxHops
	c, err := envelope.Accept(t, self.String(), from.String(), limit)
	if err != nil {
		return endpoint.Trace{}, traceError(err, limit)
	}
	return endpoint.Trace{ID: c.ID, Origin: c.Origin, Profile: c.Profile, Hops: int(c.Hops), Path: c.Path}, nil
}

// traceError adds a code and a fix to an error of a trace.
func traceError(err error, limit int) error {
	code, fix := "RELAY-LOOP", "take one of the agents out of the ring"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, envelope.ErrHops):
		code, fix = "RELAY-HOPS", fmt.Sprintf("let agents of fewer owners ask one another, or raise maxHopCount, now %d, on all sides", limit)
	case errors.Is(err, envelope.ErrTrace):
		fix = "the device that sent it must state the true path of the request"
	}
	return &problem.Error{Code: code, What: "loop prevention: " + err.Error(), Fix: fix, Kind: endpoint.ErrDenied}
}

// Serves reports whether a device may ask the agent of the profile.
func (p Profile) Serves(d identity.DeviceID) bool { return p.allows(d) == nil }

func (p Profile) allows(d identity.DeviceID) error {
	switch {
	case !p.Allow:
		return Denied("profile "+endpoint.Quote(p.Name)+" takes no part in calls between owners",
			"set allowSharedAgentCalls: true for it, under profiles: of the settings file")
	case !slices.Contains(p.Devices, d):
		return Denied("profile "+endpoint.Quote(p.Name)+" is not for device "+d.Short()+"...",
			"add "+d.String()+" to its allowedSharedDeviceIds, under profiles: of the settings file")
	}
	return nil
}

// Denied returns an error of a rule. It wraps endpoint.ErrDenied.
func Denied(what, fix string) error {
	return &problem.Error{Code: "RELAY-DENIED", What: what, Fix: fix, Kind: endpoint.ErrDenied}
}

// Limited returns an error of a limit. It wraps endpoint.ErrLimited.
func Limited(code, what, fix string) error {
	return &problem.Error{Code: code, What: what, Fix: fix, Kind: endpoint.ErrLimited}
}
