package policy

// A Manifest describes a policy to the host: what it needs and what it may
// use. It is the policy's policy.json and, embedded in its module, the custom
// section "roompolicy.manifest".
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

// Needs say what a policy's input holds. The zero Needs means the defaults
// with text and without bids.
type Needs struct {
	HistoryEvents int   `json:"history_events,omitempty"` // events of the first input; 0 means DefHistory
	MaxTextBytes  int   `json:"max_text_bytes,omitempty"` // 0 means DefText
	NeedsText     *bool `json:"needs_text,omitempty"`     // nil means true
	Bids          bool  `json:"bids,omitempty"`           // ask every eligible agent for a bid first
}

// NoText reports whether the policy asked never to see texts.
func (n Needs) NoText() bool { return n.NeedsText != nil && !*n.NeedsText }

// ManifestLimits are what a policy asks of the sandbox. Zero means the default.
type ManifestLimits struct {
	Fuel        uint64 `json:"fuel,omitempty"`
	MemoryPages uint32 `json:"memory_pages,omitempty"`
}

// A Record is what a room's log keeps of one decision. With the log it is
// enough to rebuild the input byte for byte.
type Record struct {
	Decision  int64  `json:"decision"` // Input.Decision
	Policy    string `json:"policy"`   // the name asked for
	Digest    string `json:"digest"`   // SHA-256 of the module, hex
	ABI       int    `json:"abi"`
	Engine    string `json:"engine"`               // "compiler" or "interpreter"
	Host      string `json:"host"`                 // wazero's version
	Config    string `json:"config_digest"`        // SHA-256 of the settings, hex
	AskedAtMS int64  `json:"asked_at_ms"`          // Input.NowMS
	Seed      string `json:"seed"`                 // Input.Seed
	Through   int64  `json:"through_seq"`          // newest event that the input knew of
	Input     string `json:"input_digest"`         // SHA-256 of the input, hex
	State     string `json:"state_digest"`         // SHA-256 of the state after the decision, hex; empty for null
	StateJSON JSON   `json:"state_json,omitempty"` // the state after the decision; the log holds it when small or at every 64th
	Fuel      uint64 `json:"fuel"`                 // 0 when the module ran unmetered
	Log       string `json:"log,omitempty"`        // what the guest logged, at most MaxLog
	Micros    int64  `json:"micros,omitempty"`     // how long it took; informative
	Code      string `json:"code,omitempty"`       // error code, when it failed
	Error     string `json:"error,omitempty"`      // what failed
	Fix       string `json:"fix,omitempty"`        // what a person can do about it
}
