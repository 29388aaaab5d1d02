package config

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"github.com/folkmoot/moot/room"
)

// The wire types mirror room.schema.json. A nil pointer in a list is an item
// with a problem.
type (
	wireRoom struct {
		Version      string             `json:"version"`
		Name         string             `json:"name"`
		Objective    string             `json:"objective"`
		Opening      string             `json:"opening"`
		Constraints  []string           `json:"constraints"`
		Include      []string           `json:"include"`
		OneToOne     bool               `json:"oneToOne"`
		OnRestart    string             `json:"onRestart"`
		Participants []*wireParticipant `json:"participants"`
		Agents       []*wireParticipant `json:"agents"`
		Observers    []*wireObserver    `json:"observers"`
		Policy       wirePolicy         `json:"policy"`
		Limits       wireLimits         `json:"limits"`
		Context      wireContext        `json:"context"`
	}
	wireParticipant struct {
		ID           string        `json:"id"`
		Name         string        `json:"name"`
		Kind         string        `json:"kind"`
		Role         string        `json:"role"`
		Domains      []string      `json:"domains"`
		Instructions wireText      `json:"instructions"`
		Mode         string        `json:"mode"`
		Remembers    *bool         `json:"remembers"`
		Cooldown     int           `json:"cooldown"`
		MaxTokens    int64         `json:"maxTokens"`
		Budget       wireBudget    `json:"budget"`
		Tools        bool          `json:"allowToolUse"`
		Moderator    bool          `json:"moderator"`
		Profile      string        `json:"profile"`
		Owner        string        `json:"owner"`
		Timeout      duration      `json:"timeout"`
		StartTimeout duration      `json:"startTimeout"`
		Price        wirePrice     `json:"price"`
		Review       *wireReview   `json:"review"`
		Endpoint     *wireEndpoint `json:"endpoint"`

		HandoffTo []string `json:"handoffTo"`

		Calls            string `json:"calls"`
		MaxSubAgentDepth int    `json:"maxSubAgentDepth"`

		Allow []room.AllowRule `json:"allow"`

		MayUse      []string `json:"tools"`
		MayDelegate []string `json:"delegate"`
	}
	wireBudget struct {
		Hour wireAmounts `json:"hour"`
		Day  wireAmounts `json:"day"`
		Room wireAmounts `json:"room"`
	}
	wireAmounts struct {
		Tokens    int64   `json:"tokens"`
		Cost      float64 `json:"cost"`
		Turns     int64   `json:"turns"`
		Calls     int64   `json:"calls"`
		ToolCalls int64   `json:"toolCalls"`
	}
	wireReview struct {
		ConfidenceBelow float64  `json:"confidenceBelow"`
		Words           []string `json:"words"`
		LongerThan      int      `json:"longerThan"`
		Patterns        []string `json:"patterns"`
		Remote          bool     `json:"remote"`
		FirstContact    bool     `json:"firstContact"`
	}
	wireObserver struct {
		Peer  string `json:"peer"`
		Level string `json:"level"`
	}
	wirePrice struct {
		Input       float64 `json:"input"`
		CachedInput float64 `json:"cachedInput"`
		Output      float64 `json:"output"`
	}
	wirePolicy struct {
		Use      string          `json:"use"`
		SHA256   string          `json:"sha256"`
		Settings json.RawMessage `json:"settings"`
		Hints    bool            `json:"hints"`
		Explore  float64         `json:"explore"`
	}
	wireLimits struct {
		MaxTurns        int      `json:"maxTurns"`
		MaxDuration     duration `json:"maxDuration"`
		MaxFailures     int      `json:"maxFailures"`
		MaxTokens       int64    `json:"maxTokens"`
		MaxCost         float64  `json:"maxCost"`
		MaxDeclines     int      `json:"maxDeclines"`
		MaxHops         int      `json:"maxHops"`
		MaxCalls        int      `json:"maxCalls"`
		MaxOutputChars  int      `json:"maxOutputChars"`
		TurnTimeout     duration `json:"turnTimeout"`
		ToolTurnTimeout duration `json:"toolTurnTimeout"`
		RemoteTimeout   duration `json:"remoteTimeout"`
		BidTimeout      duration `json:"bidTimeout"`
		StartTimeout    duration `json:"startTimeout"`
		DeclineRetry    duration `json:"declineRetry"`
		MaxToolRounds   int      `json:"maxToolRounds"`
		MaxViolations   int      `json:"maxViolations"`
		SameText        int      `json:"sameText"`
		SameTextOf      int      `json:"sameTextOf"`
		MaxInternal     int      `json:"maxInternal"`
		MaxPingPong     int      `json:"maxPingPong"`
		MaxRing         int      `json:"maxRing"`
		PairRate        int      `json:"pairRate"`
		PairBurst       int      `json:"pairBurst"`
		AckTimeout      duration `json:"ackTimeout"`
		MaxAckAttempts  int      `json:"maxAckAttempts"`

		PermissionTimeout duration `json:"permissionTimeout"`
		DraftTimeout      duration `json:"draftTimeout"`
	}
	wireContext struct {
		Tokens  int `json:"tokens"`
		Summary struct {
			MaxTokens int `json:"maxTokens"`
			LineChars int `json:"lineChars"`
		} `json:"summary"`
		MaxHistoryTurns int `json:"maxHistoryTurns"`
		MaxHistoryChars int `json:"maxHistoryChars"`
	}
)

// A duration is written in the form of time.ParseDuration.
type duration time.Duration

// UnmarshalJSON reads a text that matches the pattern of the schema.
func (d *duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || s == "" {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = duration(v)
	return err
}

// A wireText is a text, or the file that contains it: {file: PATH}.
type wireText struct{ Text, File string }

// UnmarshalJSON reads a value that matches the schema of instructions.
func (t *wireText) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, &t.Text)
	}
	var f struct {
		File string `json:"file"`
	}
	err := decodeStrict(b, &f)
	t.File = f.File
	return err
}

// millionths converts an amount of money to millionths.
func millionths(v float64) int64 { return int64(math.Round(v * 1e6)) }

// decodeStrict decodes JSON and rejects unknown fields.
func decodeStrict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// wireEndpoint is an endpoint as written. Base is set only in logs: the folder of
// the included file that defines it, relative to the folder of the room.
type wireEndpoint struct {
	Kind    string            `json:"kind"`
	Command []string          `json:"command,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Restart *int              `json:"restart,omitempty"`

	Agent      string `json:"agent,omitempty"`
	Say        string `json:"say,omitempty"`
	AwaitReady bool   `json:"awaitReady,omitempty"`

	Script  string   `json:"script,omitempty"`
	Lines   []string `json:"lines,omitempty"`
	Peer    string   `json:"peer,omitempty"`
	Profile string   `json:"profile,omitempty"`
	Name    string   `json:"name,omitempty"`
	Base    string   `json:"base,omitempty"`

	BaseURL         string   `json:"baseURL,omitempty"`
	Model           string   `json:"model,omitempty"`
	APIKey          string   `json:"apiKey,omitempty"`
	Temperature     *float64 `json:"temperature,omitempty"`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty"`
	URL             string   `json:"url,omitempty"`
	Token           string   `json:"token,omitempty"`
}
