package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Profile is a named local agent of this device, with its rights and limits in
// exchanges with agents of other devices. It is an item of profiles: in the
// settings file.
type Profile struct {
	Name          string        `json:"name"`
	Allow         bool          `json:"allow_shared_agent_calls"`
	Devices       []string      `json:"allowed_shared_device_ids,omitempty"`
	MaxConcurrent int           `json:"max_concurrent_shared_calls,omitempty"` // 0 means 3
	MaxHops       int           `json:"max_hop_count,omitempty"`               // 0 means 2
	PerMinute     int           `json:"rate_per_minute,omitempty"`             // 0 means 6
	Burst         int           `json:"rate_burst,omitempty"`                  // 0 means 3
	Candid        bool          `json:"candid,omitempty"`
	Timeout       time.Duration `json:"-"`
	Caps
	// Endpoint is the endpoint of the shared agent as written; nil for an agent
	// that is not shared. See ExpandEndpoint.
	Endpoint json.RawMessage `json:"endpoint,omitempty"`
	Dir      string          `json:"-"` // start of relative paths
}

// Caps limit what the host of another owner's room may ask of a shared agent.
type Caps struct {
	AllowTools     bool `json:"allow_tools,omitempty"`
	MaxOutputChars int  `json:"max_output_chars,omitempty"` // 0 means 12,000
	MaxToolRounds  int  `json:"max_tool_rounds,omitempty"`  // 0 means 3
	MaxMinutes     int  `json:"max_minutes,omitempty"`      // for one device on one day; 0 means no limit
}

const profilesKey = "profiles"

var profileName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// wireProfile is a profile as written.
type wireProfile struct {
	Profile
	Timeout duration `json:"timeout"`
}

// maxProfiles is the maximum length of the list.
const maxProfiles = 64

// readProfiles reads the list profiles:. It decodes each item separately, so that
// a problem has its position.
func readProfiles(s *source) ([]Profile, *Problem) {
	n, _ := child(s.root, profilesKey)
	if n == nil {
		return nil, nil
	}
	if n = follow(n); n.Kind != yaml.SequenceNode || len(n.Content) > maxProfiles {
		return nil, s.problemAt(n.Line, n.Column, "CONFIG-VALUE", fmt.Sprintf("%s is %s, want a list of at most %d", profilesKey, kindOf(n), maxProfiles))
	}
	var all []Profile
	for _, item := range n.Content {
		w, err := decodeProfile(item)
		if err == nil {
			err = w.check(all)
		}
		if err != nil {
			p := s.problemAt(item.Line, item.Column, "CONFIG-VALUE", "invalid profile: "+err.Error())
			p.Hint = "its keys are name, endpoint, allow_shared_agent_calls, allowed_shared_device_ids, max_concurrent_shared_calls, max_hop_count, rate_per_minute, rate_burst, allowTools, maxOutputChars, maxToolRounds, maxMinutes, timeout and candid"
			return nil, p
		}
		w.Profile.Timeout, w.Dir = time.Duration(w.Timeout), s.dir
		all = append(all, w.Profile)
	}
	return all, nil
}

func decodeProfile(n *yaml.Node) (w wireProfile, err error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return w, err
	}
	if v, err = snakeKeys(v); err != nil {
		return w, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return w, err
	}
	return w, decodeStrict(b, &w)
}

var camelKey = regexp.MustCompile(`^[a-z]+([A-Z][a-z]+)+$`)

// snakeKeys returns a profile with its keys in snake case: the one-to-one note has
// them in camel case, and both are allowed.
func snakeKeys(v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return v, nil
	}
	out := make(map[string]any, len(m))
	for k, x := range m {
		if camelKey.MatchString(k) {
			k = strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(k, "_$0"))
		}
		if _, twice := out[k]; twice {
			return nil, fmt.Errorf("%s is given twice", k)
		}
		out[k] = x
	}
	return out, nil
}

func (w wireProfile) check(others []Profile) error {
	switch {
	case !profileName.MatchString(w.Name):
		return fmt.Errorf("the name %q is not a letter, then letters, digits, '_' and '-', at most 32", w.Name)
	case slices.ContainsFunc(others, func(p Profile) bool { return p.Name == w.Name }):
		return fmt.Errorf("two profiles have the name %s", w.Name)
	case w.MaxConcurrent < 0 || w.MaxHops < 0 || w.PerMinute < 0 || w.Burst < 0 || w.MaxHops > 16 || w.MaxConcurrent > 64:
		return fmt.Errorf("a limit of %s is out of bounds", w.Name)
	case w.MaxOutputChars < 0 || w.MaxToolRounds < 0 || w.MaxMinutes < 0 || w.MaxMinutes > 24*60:
		return fmt.Errorf("a limit of %s is out of bounds", w.Name)
	case w.Timeout < 0 || time.Duration(w.Timeout) > maxDuration:
		return fmt.Errorf("the timeout of %s is out of bounds", w.Name)
	}
	if w.Endpoint == nil {
		return nil
	}
	var e wireEndpoint
	if err := decodeStrict(w.Endpoint, &e); err != nil {
		return fmt.Errorf("the endpoint of %s: %w", w.Name, err)
	}
	switch {
	case e.Kind == KindNDJSON && len(e.Command) > 0, e.Kind == KindScripted && (e.Script != "") != (e.Lines != nil), e.Kind == KindRelay && e.Peer != "" && e.Profile != "":
		return nil
	}
	return fmt.Errorf("the endpoint of %s is incomplete or of an unknown kind", w.Name)
}
