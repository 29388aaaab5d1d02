package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/folkmoot/moot/policies/policy"
)

// file is the YAML form of a case.
type file struct {
	About    string         `yaml:"about"`
	Settings map[string]any `yaml:"settings"`
	Input    input          `yaml:"input"`
	Steps    []struct {
		About string `yaml:"about"`
		Input input  `yaml:"input"`
		Want  string `yaml:"want"`
	} `yaml:"steps"`
}

// input holds the keys of an input. A nil field is an absent key: a step
// replaces only the keys that it has.
type input struct {
	Init        *bool     `yaml:"init"`
	Room        *string   `yaml:"room"`
	Decision    *int64    `yaml:"decision"`
	Turn        *int      `yaml:"turn"`
	NowMS       *int64    `yaml:"now_ms"`
	Seed        *string   `yaml:"seed"`
	Objective   *string   `yaml:"objective"`
	Constraints *[]string `yaml:"constraints"`
	Config      *any      `yaml:"config"`
	Limits      *limits   `yaml:"limits"`
	Agents      *[]agent  `yaml:"agents"`
	Events      *[]event  `yaml:"events"`
	Handoff     *handoff  `yaml:"handoff"`
	Replaced    *string   `yaml:"replaced"`
	Truncated   *bool     `yaml:"truncated"`
	State       *any      `yaml:"state"`
}

type limits struct {
	MaxTurns   *int   `yaml:"max_turns"`
	TurnsLeft  *int   `yaml:"turns_left"`
	TokensLeft *int64 `yaml:"tokens_left"`
	MSLeft     *int64 `yaml:"ms_left"`
}

type agent struct {
	ID         string   `yaml:"id"`
	Name       string   `yaml:"name"`
	Kind       string   `yaml:"kind"`
	Role       string   `yaml:"role"`
	Domains    []string `yaml:"domains"`
	Eligible   *bool    `yaml:"eligible"`
	Ineligible string   `yaml:"ineligible_reason"`
	Presence   string   `yaml:"presence"`
	Turns      int      `yaml:"turns"`
	LastTurn   int      `yaml:"last_turn"`
	Failures   int      `yaml:"failures"`
	Tokens     int64    `yaml:"tokens"`
	AvgMS      int64    `yaml:"avg_ms"`
	Unread     int      `yaml:"unread"`
	Urgent     int      `yaml:"urgent"`
	Followed   struct {
		Last    int `yaml:"last"`
		LastTwo int `yaml:"last_two"`
	} `yaml:"followed"`
	Confidence *float64 `yaml:"confidence"`
	Bid        *struct {
		Score  float64 `yaml:"score"`
		Reason string  `yaml:"reason"`
	} `yaml:"bid"`
	Tasks []task `yaml:"tasks"`
}

type handoff struct {
	From   string `yaml:"from"`
	To     string `yaml:"to"`
	Reason string `yaml:"reason"`
}

type task struct {
	ID    string   `yaml:"id"`
	Title string   `yaml:"title"`
	State string   `yaml:"state"`
	After []string `yaml:"after"`
}

type event struct {
	Seq       int64    `yaml:"seq"`
	Turn      int      `yaml:"turn"`
	From      string   `yaml:"from"`
	To        []string `yaml:"to"`
	Kind      string   `yaml:"kind"`
	Text      string   `yaml:"text"`
	Truncated bool     `yaml:"truncated"`
	Mentions  []string `yaml:"mentions"`
	Addressed []string `yaml:"addressed"`
	Bytes     int      `yaml:"bytes"`
	Silent    []string `yaml:"silent"`
}

// Parse decodes one case. Errors begin with name. It refuses unknown keys.
func Parse(name string, b []byte) (*Case, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(f.Steps) == 0 {
		return nil, fmt.Errorf("%s: a case needs steps", name)
	}
	c := &Case{Name: name, About: f.About, source: b}
	settings, err := asJSON(f.Settings)
	if err != nil {
		return nil, fmt.Errorf("%s: settings: %w", name, err)
	}
	if c.Settings = settings; f.Settings == nil {
		c.Settings = policy.JSON("{}")
	}
	r := room{in: base()}
	if err := r.take(f.Input); err != nil {
		return nil, fmt.Errorf("%s: input: %w", name, err)
	}
	r.in.Events, r.in.Handoff, r.in.Replaced = nil, nil, ""
	for i, s := range f.Steps {
		if i == 0 && s.Input.Events == nil {
			s.Input.Events = f.Input.Events
		}
		if i == 0 && s.Input.Handoff == nil {
			s.Input.Handoff = f.Input.Handoff
		}
		if i == 0 && s.Input.Replaced == nil {
			s.Input.Replaced = f.Input.Replaced
		}
		if err := r.step(i, s.Input); err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", name, i+1, err)
		}
		want := strings.TrimSuffix(s.Want, "\n")
		c.Steps = append(c.Steps, Step{About: s.About, Want: want, input: r.in, ownState: s.Input.State != nil || i == 0})
	}
	return c, nil
}

func asJSON(v any) (policy.JSON, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return policy.JSON(bytes.TrimSpace(out.Bytes())), nil
}
