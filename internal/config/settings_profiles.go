package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/folkmoot/moot/room"
)

// A Profile is a named local agent of this device, with its rights and limits in
// exchanges with agents of other devices. It is an item of profiles: in the
// settings file.
type Profile struct {
	Name          string        `json:"name"`
	Allow         bool          `json:"allowSharedAgentCalls"`
	Devices       []string      `json:"allowedSharedDeviceIds,omitempty"`
	MaxConcurrent int           `json:"maxConcurrentSharedCalls,omitempty"` // 0 means 3
	MaxHops       int           `json:"maxHopCount,omitempty"`              // 0 means 2
	PerMinute     int           `json:"ratePerMinute,omitempty"`            // 0 means 6
	Burst         int           `json:"rateBurst,omitempty"`                // 0 means 3
	Candid        bool          `json:"candid,omitempty"`
	Timeout       time.Duration `json:"-"`
	Instructions  string        `json:"-"` // to the shared agent, with each prompt
	Caps
	// Rules are the actions that the shared agent may take. No person is asked.
	Rules []room.AllowRule `json:"allow,omitempty"`
	// Endpoint is the endpoint of the shared agent as written; nil for an agent
	// that is not shared. See ExpandEndpoint.
	Endpoint json.RawMessage `json:"endpoint,omitempty"`
	Dir      string          `json:"-"` // start of relative paths
}

// Caps limit what the host of another owner's room may ask of a shared agent.
type Caps struct {
	AllowTools     bool `json:"allowTools,omitempty"`
	MaxOutputChars int  `json:"maxOutputChars,omitempty"` // 0 means 12,000
	MaxToolRounds  int  `json:"maxToolRounds,omitempty"`  // 0 means 3
	MaxMinutes     int  `json:"maxMinutes,omitempty"`     // for one device on one day; 0 means no limit
}

const profilesKey = "profiles"

var profileName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// wireProfile is a profile as written.
type wireProfile struct {
	Profile
	Timeout      duration `json:"timeout"`
	Instructions wireText `json:"instructions"`
}

// maxRules is the largest number of rules under allow: of one agent.
const maxRules = 64

// maxProfiles is the maximum length of the list.
const maxProfiles = 64

// readProfiles reads the list profiles:. It decodes each item separately, so that
// a problem has its position. warning is about keys in an old spelling; "" for none.
func readProfiles(s *source) (all []Profile, warning string, _ *Problem) {
	n, _ := child(s.root, profilesKey)
	if n == nil {
		return nil, "", nil
	}
	if n = follow(n); n.Kind != yaml.SequenceNode || len(n.Content) > maxProfiles {
		return nil, "", s.problemAt(n.Line, n.Column, "CONFIG-VALUE", fmt.Sprintf("%s is %s, want a list of at most %d", profilesKey, kindOf(n), maxProfiles))
	}
	var renamed []string
	for _, item := range n.Content {
		w, old, err := decodeProfile(item)
		renamed = append(renamed, old...)
		if err == nil {
			err = w.check(all)
		}
		if err == nil && w.Instructions != (wireText{}) {
			err = w.instruct(s.dir)
		}
		if err != nil {
			p := s.problemAt(item.Line, item.Column, "CONFIG-VALUE", "invalid profile: "+err.Error())
			if strings.Contains(p.Source, "apiKey") || strings.Contains(p.Source, "token") {
				p.Source = "" // the line may have a secret
			}
			p.Hint = "its keys are name, endpoint, allowSharedAgentCalls, allowedSharedDeviceIds, maxConcurrentSharedCalls, maxHopCount, ratePerMinute, rateBurst, allowTools, maxOutputChars, maxToolRounds, maxMinutes, timeout, instructions, allow and candid"
			return nil, "", p
		}
		w.Profile.Timeout, w.Dir = time.Duration(w.Timeout), s.dir
		all = append(all, w.Profile)
	}
	return all, renamedWarning(s.problemAt(n.Line, n.Column, "", "").Position, renamed), nil
}

func decodeProfile(n *yaml.Node) (w wireProfile, old []string, err error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return w, nil, err
	}
	if old, err = renameProfileKeys(v); err != nil {
		return w, nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return w, nil, err
	}
	return w, old, decodeStrict(b, &w)
}

// oldProfileKeys are the spellings of earlier releases. They still work, with a
// warning.
var oldProfileKeys = map[string]string{
	"allow_shared_agent_calls": "allowSharedAgentCalls", "allowed_shared_device_ids": "allowedSharedDeviceIds",
	"max_concurrent_shared_calls": "maxConcurrentSharedCalls", "max_hop_count": "maxHopCount",
	"rate_per_minute": "ratePerMinute", "rate_burst": "rateBurst", "allow_tools": "allowTools",
	"max_output_chars": "maxOutputChars", "max_tool_rounds": "maxToolRounds", "max_minutes": "maxMinutes",
}

// renameProfileKeys gives keys of a profile in an old spelling the present one,
// and returns the old keys.
func renameProfileKeys(v any) (old []string, err error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil
	}
	for k, now := range oldProfileKeys {
		x, ok := m[k]
		if !ok {
			continue
		}
		if _, twice := m[now]; twice {
			return nil, fmt.Errorf("%s is given twice", now)
		}
		delete(m, k)
		m[now], old = x, append(old, k)
	}
	return old, nil
}

// renamedWarning says what to write instead of old keys, "" without any.
func renamedWarning(where Position, old []string) string {
	if len(old) == 0 {
		return ""
	}
	slices.Sort(old)
	old = slices.Compact(old)
	now := make([]string, len(old))
	for i, k := range old {
		now[i] = oldProfileKeys[k]
	}
	return fmt.Sprintf("%s: profiles have old spellings of keys: %s\n  fix: write %s", where, strings.Join(old, ", "), strings.Join(now, ", "))
}

// instruct sets the instructions of the profile.
func (w *wireProfile) instruct(dir string) error {
	text, err := w.Instructions.read(dir)
	if err != nil {
		return fmt.Errorf("the instructions of %s: %s; %s", w.Name, err.What, err.Fix)
	}
	w.Profile.Instructions = text
	return nil
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
	if len(w.Rules) > maxRules {
		return fmt.Errorf("allow of %s has %d rules, at most %d are possible", w.Name, len(w.Rules), maxRules)
	}
	for _, r := range w.Rules {
		if err := r.Check(); err != nil {
			return fmt.Errorf("allow of %s: %w", w.Name, err)
		}
	}
	if w.Endpoint == nil {
		return nil
	}
	var e wireEndpoint
	if err := decodeStrict(w.Endpoint, &e); err != nil {
		return fmt.Errorf("the endpoint of %s: %w", w.Name, err)
	}
	switch {
	case e.Kind == KindOpenAI && e.Model == "":
		return fmt.Errorf("the endpoint of %s has no model", w.Name)
	case e.Kind == KindOpenAI && e.APIKey != "" && !isVariable(e.APIKey):
		return fmt.Errorf("the endpoint of %s has a secret; export it and write apiKey: \"${OPENAI_API_KEY}\"", w.Name)
	case e.Kind == KindOpenAI && e.BaseURL != "" && len(variables(e.BaseURL)) == 0 && urlFault(e.BaseURL) != "":
		return fmt.Errorf("the baseURL of the endpoint of %s %s", w.Name, urlFault(e.BaseURL))
	case e.Kind == KindA2A && e.URL == "":
		return fmt.Errorf("the endpoint of %s has no url", w.Name)
	case e.Kind == KindA2A && e.Token != "" && !isVariable(e.Token):
		return fmt.Errorf("the endpoint of %s has a secret; export it and write token: \"${A2A_TOKEN}\"", w.Name)
	case e.Kind == KindA2A && len(variables(e.URL)) == 0 && agentURLFault(e.URL) != "":
		return fmt.Errorf("the url of the endpoint of %s %s", w.Name, agentURLFault(e.URL))
	case e.Kind == KindOpenAI, e.Kind == KindA2A, (e.Kind == KindNDJSON || e.Kind == KindACP || e.Kind == KindCommand) && len(e.Command) > 0, e.Kind == KindACP && e.Agent != "",
		e.Kind == KindScripted && (e.Script != "") != (e.Lines != nil), e.Kind == KindRelay && e.Peer != "" && e.Profile != "":
		return nil
	}
	return fmt.Errorf("the endpoint of %s is incomplete or of an unknown kind", w.Name)
}
