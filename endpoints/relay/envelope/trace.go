package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Trace lists the devices through which a chain of requests has come. It is
// encrypted between each pair of devices, so a relay cannot shorten it. A
// dishonest device can. Rates and room limits bound that case.
type Trace struct {
	ID      string   `json:"trace_id"`
	Hops    Hops     `json:"hop_count"`
	Origin  string   `json:"origin_device"`        // device id, 52 characters
	Profile string   `json:"orchestrator_profile"` // profile at the origin that started the chain
	Path    []string `json:"path"`                 // device ids, from the origin to the sender
}

// Hops counts the steps between devices, including this envelope. Decoding
// turns anything but a whole number from 1 to 1,000 into UnknownHops, which
// counts as the limit: the request may be served but not forwarded.
type Hops int

// UnknownHops is the count of a sender that stated no valid count.
const UnknownHops Hops = 0

const maxHops = 1_000

// UnmarshalJSON decodes the count. It accepts any valid JSON.
func (h *Hops) UnmarshalJSON(b []byte) error {
	var n int
	if err := json.Unmarshal(b, &n); err != nil || n < 1 || n > maxHops {
		n = int(UnknownHops)
	}
	*h = Hops(n)
	return nil
}

// Errors of Accept, Forward and Start.
var (
	ErrHops     = errors.New("the request has come through too many devices")
	ErrSelfLoop = errors.New("a device calls itself")
	ErrLoop     = errors.New("the request has passed this device before")
	ErrTrace    = errors.New("the trace does not match its sender")
)

// NewTrace returns the trace of a request that starts at this device.
func NewTrace(id, device, profile string) Trace {
	return Trace{ID: id, Hops: 1, Origin: device, Profile: profile, Path: []string{device}}
}

// hops returns the stated count, but at least the length of the path.
func (t Trace) hops(limit int) int {
	if t.Hops == UnknownHops {
		return max(limit, len(t.Path))
	}
	return max(int(t.Hops), len(t.Path))
}

// Accept checks a request that arrived at the device self from the device from,
// as authenticated by the session. It returns the trace with a hop count that
// this device has computed itself. A nil trace counts as the limit. Errors:
// ErrHops, ErrSelfLoop, ErrLoop, ErrTrace.
func Accept(t *Trace, self, from string, limit int) (Trace, error) {
	if t == nil {
		t = &Trace{Origin: from, Path: []string{from}}
	}
	n := len(t.Path)
	switch {
	case self == from, self == t.Origin && n == 1:
		return Trace{}, ErrSelfLoop
	case slices.Contains(t.Path, self), self == t.Origin:
		return Trace{}, ErrLoop
	case n == 0 || t.Path[0] != t.Origin || t.Path[n-1] != from:
		return Trace{}, ErrTrace
	case hasDuplicate(t.Path):
		return Trace{}, ErrLoop
	case t.hops(limit) > limit:
		return Trace{}, fmt.Errorf("%w: %d, the limit is %d", ErrHops, t.hops(limit), limit)
	}
	counted := *t
	counted.Hops, counted.Path = Hops(t.hops(limit)), slices.Clone(t.Path)
	return counted, nil
}

// Forward checks a request from the device self to target, made while a request
// with trace t is served. It returns the trace to send. The target checks
// again. Errors: ErrHops, ErrSelfLoop, ErrLoop.
func (t Trace) Forward(self, target string, limit int) (Trace, error) {
	next := t
	next.Hops = Hops(t.hops(limit) + 1)
	next.Path = append(slices.Clone(t.Path), self)
	return next, next.checkTarget(self, target, limit)
}

// Start checks a request from the device self to target that starts a new
// chain. It returns the trace to send. Errors as of Forward.
func Start(id, self, profile, target string, limit int) (Trace, error) {
	t := NewTrace(id, self, profile)
	return t, t.checkTarget(self, target, limit)
}

func (t Trace) checkTarget(self, target string, limit int) error {
	switch {
	case self == target:
		return ErrSelfLoop
	case slices.Contains(t.Path, target) || hasDuplicate(t.Path):
		return ErrLoop
	case t.hops(limit) > limit:
		return fmt.Errorf("%w: %d, the limit is %d", ErrHops, t.hops(limit), limit)
	}
	return nil
}

func hasDuplicate(path []string) bool {
	for i, id := range path {
		if slices.Contains(path[:i], id) {
			return true
		}
	}
	return false
}

func (t Trace) check() error {
	if !isPlainName(t.ID) || !isPlainName(t.Origin) || !isPlainName(t.Profile) || len(t.Path) > MaxPath || t.Hops < 0 {
		return errorf("the trace is too long or contains special characters")
	}
	for _, id := range t.Path {
		if id == "" || !isPlainName(id) {
			return errorf("the path of the trace contains special characters")
		}
	}
	return nil
}
