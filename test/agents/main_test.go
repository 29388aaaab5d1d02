// Package agents tests moot with real agents on a fake language model, and with
// an agent on the official SDK of the Agent Client Protocol. run.sh installs the
// real agents; without them their tests are skipped.
package agents

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/folkmoot/moot/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moot": cli.Main})
}
