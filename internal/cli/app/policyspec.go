package app

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"

	"github.com/folkmoot/moot/internal/catalog"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/problem"
)

// PolicySpec reads the value of a flag --policy: the name or path of a policy, with
// settings in JSON after it, or in a file after @. Without settings they are nil.
func PolicySpec(spec string) (name string, settings policy.JSON, err error) {
	name = spec
	if i := strings.IndexByte(spec, '{'); i >= 0 {
		name, settings = strings.TrimSpace(spec[:i]), policy.JSON(spec[i:])
	} else if use, file, ok := strings.Cut(spec, "@"); ok && use != "" && !strings.HasPrefix(spec, catalog.DigestPrefix) {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", nil, &problem.Error{
				Code: "ROOM-SETTINGS", What: "the file of the settings cannot be read", Where: "--policy " + spec, Err: err,
				Fix: "write POLICY@FILE; `moot policy learn` makes such files",
			}
		}
		name, settings = use, policy.JSON(bytes.TrimSpace(text))
	}
	if settings != nil && !json.Valid(settings) {
		return "", nil, &problem.Error{
			Code: "ROOM-SETTINGS", What: "the settings are not JSON", Where: "--policy " + spec,
			Fix: `write them directly after the name: --policy 'mention{"lookback":2}'`,
		}
	}
	return name, settings, nil
}
