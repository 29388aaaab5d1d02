package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Profile is a named local agent of this device and what it may have to do
// with agents of others: an item of the list profiles: in the settings file.
type Profile struct {
	Name          string        `json:"name"`
	Allow         bool          `json:"allow_shared_agent_calls"`
	Devices       []string      `json:"allowed_shared_device_ids,omitempty"`
	MaxConcurrent int           `json:"max_concurrent_shared_calls,omitempty"` // 0 is 3
	MaxHops       int           `json:"max_hop_count,omitempty"`               // 0 is 2
	PerMinute     int           `json:"rate_per_minute,omitempty"`             // 0 is 6
	Burst         int           `json:"rate_burst,omitempty"`                  // 0 is 3
	Candid        bool          `json:"candid,omitempty"`
	Timeout       time.Duration `json:"-"`
	// Endpoint is how the agent is reached when it is shared, as it is written;
	// nil when it only asks. See ExpandEndpoint.
	Endpoint json.RawMessage `json:"endpoint,omitempty"`
	Dir      string          `json:"-"` // that relative paths start at
}

const profilesKey = "profiles"

var profileName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// wireProfile is a profile as it is written.
type wireProfile struct {
	Profile
	Timeout duration `json:"timeout"`
}

// maxProfiles bounds the list.
const maxProfiles = 64

// profilesOf reads the list profiles:, each item by itself so that a problem
// has its place.
func profilesOf(s *source) ([]Profile, *Problem) {
	n := valueOf(s.root, profilesKey)
	if n == nil {
		return nil, nil
	}
	if n = follow(n); n.Kind != yaml.SequenceNode || len(n.Content) > maxProfiles {
		p := s.at(n.Line, n.Column, "CONFIG-VALUE", fmt.Sprintf("%s is %s, want a list of at most %d", profilesKey, kindOf(n), maxProfiles))
		return nil, &p
	}
	var all []Profile
	for _, item := range n.Content {
		w, err := profileOf(item)
		if err == nil {
			err = w.check(all)
		}
		if err != nil {
			p := s.at(item.Line, item.Column, "CONFIG-VALUE", "a profile cannot be used: "+err.Error())
			p.Hint = "it has name, endpoint, allow_shared_agent_calls, allowed_shared_device_ids, max_concurrent_shared_calls, max_hop_count, rate_per_minute, rate_burst, timeout and candid"
			return nil, &p
		}
		w.Profile.Timeout, w.Dir = time.Duration(w.Timeout), s.dir
		all = append(all, w.Profile)
	}
	return all, nil
}

func profileOf(n *yaml.Node) (w wireProfile, err error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return w, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return w, err
	}
	return w, strict(b, &w)
}

func (w wireProfile) check(others []Profile) error {
	switch {
	case !profileName.MatchString(w.Name):
		return fmt.Errorf("its name %q is not a letter, then letters, digits, '_' and '-', at most 32", w.Name)
	case slices.ContainsFunc(others, func(p Profile) bool { return p.Name == w.Name }):
		return fmt.Errorf("there are two of the name %s", w.Name)
	case w.MaxConcurrent < 0 || w.MaxHops < 0 || w.PerMinute < 0 || w.Burst < 0 || w.MaxHops > 16 || w.MaxConcurrent > 64:
		return fmt.Errorf("a limit of %s is out of bounds", w.Name)
	case w.Timeout < 0 || time.Duration(w.Timeout) > maxDuration:
		return fmt.Errorf("the timeout of %s is out of bounds", w.Name)
	}
	if w.Endpoint == nil {
		return nil
	}
	var e wireEndpoint
	if err := strict(w.Endpoint, &e); err != nil {
		return fmt.Errorf("the endpoint of %s: %w", w.Name, err)
	}
	switch {
	case e.Kind == KindNDJSON && len(e.Command) > 0, e.Kind == KindScripted && (e.Script != "") != (e.Lines != nil), e.Kind == KindRelay && e.Peer != "" && e.Profile != "":
		return nil
	}
	return fmt.Errorf("the endpoint of %s is not complete, or of no kind that is known", w.Name)
}

// valueOf returns the value of a key of a mapping.
func valueOf(m *yaml.Node, key string) *yaml.Node {
	for i := 0; m != nil && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}
