package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/internal/worker"
	"github.com/folkmoot/moot/problem"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A settingsCheck is a check of settings against the schema of a policy. The
// schema of a third-party policy is as good as a program: a few references can
// demand more steps than a machine has, a number can have more digits than its
// memory holds. So the check runs in a worker process, within limits.
type settingsCheck struct {
	Schema       json.RawMessage `json:"schema"`
	Settings     json.RawMessage `json:"settings,omitempty"` // empty: an empty object
	Participants []string        `json:"participants"`       // valid IDs; none: all are
}

// PolicyName returns the one of names that use means: the same name, or the only
// one that differs from it in case, - and _ alone, so that round-robin and
// RoundRobin mean roundrobin.
func PolicyName(use string, names []string) (string, bool) {
	if slices.Contains(names, use) {
		return use, true
	}
	found := ""
	for _, name := range names {
		if foldName(name) != foldName(use) {
			continue
		}
		if found != "" {
			return "", false
		}
		found = name
	}
	return found, found != ""
}

// SamePolicy reports whether two names mean the same policy.
func SamePolicy(a, b string) bool { return a == b || !IsPath(a) && foldName(a) == foldName(b) }

func foldName(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// limits of a check. One of a schema with a hundred settings takes 20 ms.
var settingsLimits = worker.Limits{CPU: time.Second, Memory: 256 << 20}

const maxSettingsReport = 1 << 20 // bytes

// A settingsReport is the result of a check.
type settingsReport struct {
	Error      string      `json:"error,omitempty"` // the schema cannot be used
	Violations []violation `json:"violations,omitempty"`
}

var _ = worker.Serve("settings", serveSettings)

func serveSettings(request io.Reader, reply io.Writer) error {
	var c settingsCheck
	if err := json.NewDecoder(request).Decode(&c); err != nil {
		return err
	}
	return json.NewEncoder(reply).Encode(c.run())
}

// run makes the check in this process.
func (c settingsCheck) run() settingsReport {
	schema, err := c.compile()
	if err != nil {
		return settingsReport{Error: err.Error()}
	}
	v := any(map[string]any{})
	if len(c.Settings) > 0 {
		if err := json.Unmarshal(c.Settings, &v); err != nil {
			return settingsReport{Violations: []violation{{Rule: ruleBound, Text: "is not JSON: " + err.Error()}}}
		}
	}
	return settingsReport{Violations: schema.check(v)}
}

// runInWorker makes the check in a worker process.
func (c settingsCheck) runInWorker(ctx context.Context) settingsReport {
	request, err := json.Marshal(c)
	if err != nil {
		return settingsReport{Error: "reading schema settings.schema.json: " + err.Error()}
	}
	reply, err := worker.Run(ctx, worker.Work{Name: "settings", Request: request, Limits: settingsLimits, MaxReply: maxSettingsReport})
	if errors.Is(err, worker.ErrTooSlow) || errors.Is(err, worker.ErrOutOfMemory) {
		return settingsReport{Error: fmt.Sprintf("the check of the settings takes more than %d s or %d MiB; the policy's author has to simplify config_schema",
			int(settingsLimits.CPU.Seconds()), settingsLimits.Memory>>20)}
	}
	if err != nil {
		return settingsReport{Error: "checking the settings: " + err.Error()}
	}
	var r settingsReport
	if err := json.NewDecoder(bytes.NewReader(reply)).Decode(&r); err != nil {
		return settingsReport{Error: "checking the settings: " + err.Error()}
	}
	return r
}

// formatParticipant is the format of a setting that must be the ID of a
// participant: {"type": "string", "format": "participant"}. An empty ID is
// valid.
const formatParticipant = "participant"

func (c settingsCheck) compile() (compiled, error) {
	return compile("settings.schema.json", c.Schema, &jsonschema.Format{
		Name: formatParticipant,
		Validate: func(v any) error {
			if id, ok := v.(string); ok && id != "" && c.Participants != nil && !slices.Contains(c.Participants, id) {
				return &unknownParticipant{id, c.Participants}
			}
			return nil
		},
	})
}

// CheckSettings checks settings against the schema of a third-party policy,
// without a room: any ID of a participant is valid. Empty settings mean an
// empty object. It takes at most a second of the processor.
func CheckSettings(ctx context.Context, schema, settings []byte) error {
	r := settingsCheck{Schema: schema, Settings: settings}.runInWorker(ctx)
	if r.Error != "" {
		return errors.New(r.Error)
	}
	if len(r.Violations) == 0 {
		return nil
	}
	var all []string
	for _, v := range r.Violations {
		all = append(all, v.String())
	}
	return errors.New(strings.Join(all, "; "))
}

// A SettingsError is one setting of a policy that its schema refuses, or the
// settings as a whole.
type SettingsError []*problem.Error

// Each returns what is wrong, one error for each place.
func (e SettingsError) Each() []*problem.Error { return e }

// ErrorCode returns the stable code.
func (SettingsError) ErrorCode() string { return codeSettings }

// Error returns all errors on one line.
func (e SettingsError) Error() string {
	var all []string
	for _, one := range e {
		all = append(all, one.Where+" "+one.What)
	}
	return "the policy does not allow its settings: " + strings.Join(all, "; ")
}

// codeSettings is the code of settings that the schema of a policy refuses.
const codeSettings = "ROOM-SETTINGS"

// CheckRoomSettings is [CheckSettings] for a room with those participants. Its error
// is a [SettingsError], whose places are settings and the JSON pointer of a setting.
func CheckRoomSettings(ctx context.Context, schema, settings []byte, participants []string) error {
	r := settingsCheck{Schema: schema, Settings: settings, Participants: participants}.runInWorker(ctx)
	if r.Error != "" {
		return SettingsError{{Code: codeSettings, Where: "settings", What: r.Error, Fix: "tell the author of the policy"}}
	}
	var all SettingsError
	for _, v := range r.Violations {
		where := "settings"
		for _, step := range v.Path {
			where += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
		}
		all = append(all, &problem.Error{Code: codeSettings, Where: where, What: v.what(), Fix: "`moot policy inspect` prints the schema of the settings"})
	}
	if all == nil {
		return nil
	}
	return all
}

// checkSettings checks the settings of the policy against its schema.
func (d *document) checkSettings(w wireRoom, o Options) {
	if o.SettingsSchema == nil || d.isBroken("policy", "settings") {
		return
	}
	schema, builtIn, err := o.SettingsSchema(w.Policy.Use)
	if err != nil {
		d.reportUnlessBroken([]string{"policy", "use"}, "ROOM-POLICY", err.Error(), "")
		return
	}
	if len(schema) == 0 || string(schema) == "null" {
		return
	}
	c := settingsCheck{Schema: schema, Settings: json.RawMessage(w.Policy.Settings)}
	if !d.isBroken("participants") {
		for _, s := range w.Participants {
			if s != nil {
				c.Participants = append(c.Participants, s.ID)
			}
		}
	}
	var r settingsReport
	if builtIn {
		r = c.run()
	} else {
		r = c.runInWorker(context.Background())
	}
	if r.Error != "" {
		d.reportUnlessBroken([]string{"policy", "use"}, "ROOM-POLICY", r.Error, "")
		return
	}
	checker{d: d, code: codeSettings, base: []string{"policy", "settings"}}.report(r.Violations)
}
