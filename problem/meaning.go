package problem

// A Meaning documents a code. `moot help CODE` prints it. Codes are stable.
// Codes of package plugins are in lower case.
type Meaning struct {
	Code  string `json:"code"`
	Exit  int    `json:"exit"` // exit code of a command that fails with it; see `moot help exit-codes`
	Means string `json:"means"`
	Fix   string `json:"fix,omitempty"`
}

// Exit codes. internal/cli has the whole table.
const (
	failure = 1
	usage   = 2
	input   = 3
	denied  = 4
	gate    = 6
	policy  = 7
)
