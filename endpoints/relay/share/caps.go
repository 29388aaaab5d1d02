package share

import (
	"cmp"
	"fmt"
	"time"

	"github.com/folkmoot/moot/endpoints/endpoint"
	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/endpoints/relay/quota"
	"github.com/folkmoot/moot/endpoints/relay/wire"
)

// Caps limit what a host may ask of an agent. Of the host's limit and the cap the
// lower one applies.
type Caps struct {
	AllowTools     bool // the agent may use tools if the host allows it too
	MaxOutputChars int  // of an answer; 0 is 12,000
	MaxToolRounds  int  // of a turn; 0 is 3
	MaxMinutes     int  // of work for one device on one day, in UTC; 0 is no limit
}

// Defaults of Caps (one-to-one note).
const (
	defaultOutputChars = 12_000
	defaultToolRounds  = 3
)

// apply lowers the limits of a prompt to the caps.
func (c Caps) apply(p *endpoint.Prompt) {
	p.MaxOutputChars = min(wire.OutputLimit(*p), cmp.Or(c.MaxOutputChars, defaultOutputChars))
	p.MaxToolRounds = min(cmp.Or(p.MaxToolRounds, defaultToolRounds), cmp.Or(c.MaxToolRounds, defaultToolRounds))
	p.AllowToolUse = p.AllowToolUse && c.AllowTools
}

// timeout returns how long the agent may work on a request of a device: the time
// asked for, or what is left of the day if that is less.
func (s *Share) timeout(p *sharedProfile, from identity.DeviceID, asked time.Duration) (time.Duration, error) {
	if p.Caps.MaxMinutes <= 0 {
		return asked, nil
	}
	worked, err := s.cfg.Quota.Worked(p.Profile, from)
	if err != nil {
		return 0, err
	}
	left := time.Duration(p.Caps.MaxMinutes)*time.Minute - worked
	if left <= 0 {
		return 0, quota.Limited("RELAY-MINUTES", fmt.Sprintf("profile %s has worked its %d minutes for this device today", endpoint.Quote(p.Profile.Name), p.Caps.MaxMinutes),
			"wait until midnight UTC, or raise maxMinutes")
	}
	return min(asked, left), nil
}

// charge counts the time that an agent worked for a device since begun.
func (s *Share) charge(p *sharedProfile, from identity.DeviceID, begun time.Time) {
	if p.Caps.MaxMinutes <= 0 {
		return
	}
	if err := s.cfg.Quota.AddWork(p.Profile, from, time.Since(begun)); err != nil {
		s.cfg.Log.Error("the time of an agent's work is not kept", "profile", p.Profile.Name, "error", err)
	}
}
