package policy

// A Manifest describes a policy to the host: its name, settings, and needs. It
// is stored in policy.json and in the custom section "roompolicy.manifest" of
// the module.
type Manifest struct {
	Name          string         `json:"name"`
	Version       string         `json:"version"`
	ABI           int            `json:"abi"`
	Description   string         `json:"description,omitempty"`
	Author        string         `json:"author,omitempty"`
	License       string         `json:"license,omitempty"`
	Wasm          string         `json:"wasm,omitempty"`
	SHA256        string         `json:"sha256,omitempty"`
	ConfigSchema  any            `json:"config_schema,omitempty"`
	DefaultConfig any            `json:"default_config,omitempty"`
	Input         Needs          `json:"input,omitzero"`
	Limits        ManifestLimits `json:"limits,omitzero"`
	MinHost       string         `json:"min_host,omitempty"`
}

// Needs select the content of a policy's input. The zero Needs select the
// defaults: with text and without bids.
type Needs struct {
	HistoryEvents int   `json:"history_events,omitempty"` // events of the first input; 0 means DefHistory
	MaxTextBytes  int   `json:"max_text_bytes,omitempty"` // 0 means DefText
	NeedsText     *bool `json:"needs_text,omitempty"`     // nil means true
	Bids          bool  `json:"bids,omitempty"`           // ask every eligible agent for a bid first
}

// NoText reports whether the policy receives events without their texts.
func (n Needs) NoText() bool { return n.NeedsText != nil && !*n.NeedsText }

// ManifestLimits are the resources that a policy needs. Zero means the default.
type ManifestLimits struct {
	Fuel        uint64 `json:"fuel,omitempty"`
	MemoryPages uint32 `json:"memory_pages,omitempty"`
}

// A Record is the audit record of a decision in a room's log. With the log it
// suffices to rebuild the input byte for byte.
type Record struct {
	Decision  int64  `json:"decision"` // Input.Decision
	Policy    string `json:"policy"`   // name or path in the room's settings
	Digest    string `json:"digest"`   // SHA-256 of the module, hex
	ABI       int    `json:"abi"`
	Engine    string `json:"engine"`               // "compiler" or "interpreter"
	Host      string `json:"host"`                 // wazero's version
	Config    string `json:"config_digest"`        // SHA-256 of the settings, hex
	AskedAtMS int64  `json:"asked_at_ms"`          // Input.NowMS
	Seed      string `json:"seed"`                 // Input.Seed
	Through   int64  `json:"through_seq"`          // newest event known to the input
	Input     string `json:"input_digest"`         // SHA-256 of the input, hex
	State     string `json:"state_digest"`         // SHA-256 of the state after the decision, hex; empty for null
	StateJSON JSON   `json:"state_json,omitempty"` // state after the decision; in the log if it is small, and for every 64th decision
	Fuel      uint64 `json:"fuel"`                 // 0 without metering
	Log       string `json:"log,omitempty"`        // lines that the guest logged, at most MaxLog bytes
	Micros    int64  `json:"micros,omitempty"`     // duration in microseconds; informative
	Code      string `json:"code,omitempty"`       // error code of a failed decision
	Error     string `json:"error,omitempty"`      // error message of a failed decision
	Fix       string `json:"fix,omitempty"`        // what a user can do about it
	Meter     int    `json:"meter,omitempty"`      // version of the costs that Fuel counts; 0 is the first

	// EndedByTime says that the decision failed because it used the processor for
	// too long, before its fuel was used up. The same input may end otherwise on
	// another machine, so a replay does not repeat the decision.
	EndedByTime bool `json:"ended_by_time,omitempty"`
}
