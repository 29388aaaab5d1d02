// Package importtest tests the architecture: which package may import which,
// the words of names and prose, and the sizes of files and folders. The import
// table is the architecture: a new package needs a rule that says what it may
// import.
package importtest

import (
	"path"
	"slices"
	"strings"
)

// A rule lists the packages that a package may import. Lists are separated by
// spaces. "a/*" matches the direct children of a, "a/..." matches a and
// everything below it. The first rule that matches a package applies.
type rule struct {
	pkg   string
	may   string // packages of this module
	never string // any packages, outside test files
	bare  bool   // not even the leaves that all others may import
}

// leaves import nothing of this module, and all but bare packages may import
// them.
const leaves = "problem internal/term internal/human internal/atomicfile internal/certfile"

// impure lists the packages that pure packages may not import: with them, the
// same input could give another result, or the code could have an effect.
const impure = "context crypto/rand database/... io/fs io/ioutil log/... math/rand/... net/... os/... " +
	"path/filepath plugin runtime/... sync/... syscall/... testing/..."

// heavy lists packages that would make a policy's WebAssembly module large.
const heavy = "encoding/json/... fmt reflect/..."

// relayParts are shared by the roles of a device in calls between owners.
const relayParts = "endpoints/relay/wire endpoints/relay/quota endpoints/relay/envelope endpoints/relay/identity endpoints/relay/session"

var rules = []rule{
	{pkg: "policies/policy", never: impure + " " + heavy, bare: true},
	{pkg: "policies/policytest", may: "policies/policy plugins"},
	{pkg: "policies/builtins", may: "policies/policy policies/*", bare: true}, // the module that holds all of them
	{pkg: "policies/templates", may: "policies policies/policy", bare: true},
	{pkg: "policies/*", may: "policies/policy", never: "os/... net/... context", bare: true},
	{pkg: "policies/adaptive/training/...", may: "policies policies/policy policies/adaptive replay replay/... room internal/logistic internal/minhash"},    // no part of the module
	{pkg: "policies/wasteguard/training/...", may: "policies/policy policies/wasteguard internal/inference internal/logistic internal/minhash transcripts"}, // no part of the module
	{pkg: "policies/*/...", may: "policies/policy policies/*", bare: true},
	{pkg: "policies", may: "policies/policy", bare: true},

	{pkg: "room/names", never: impure, bare: true},
	{pkg: "room/loops", never: impure, bare: true},
	{pkg: "room/rights", never: impure, bare: true},
	{pkg: "room/kinds", never: impure, bare: true},
	{pkg: "room/delivery", never: impure, bare: true},
	{pkg: "room/calls", never: impure, bare: true},
	{pkg: "room/callcontext", may: "endpoints/endpoint room", never: impure},
	{pkg: "room/plan", may: "room/kinds internal/strict", never: impure},
	{pkg: "room/secrets", may: "endpoints/endpoint", never: impure, bare: true},
	{pkg: "room/budget", never: impure},
	{pkg: "room/explore", may: "policies/policy", never: impure},
	{pkg: "room/invariant", may: "endpoints/endpoint policies/policy room room/budget room/calls room/delivery room/kinds room/rights", never: impure},
	{pkg: "room/reference", may: "endpoints/endpoint policies/policy room room/calls room/explore room/kinds", never: impure},
	{pkg: "room", may: "policies/policy endpoints/endpoint room/loops room/names room/budget room/rights room/secrets room/kinds room/delivery room/calls room/plan room/explore", never: impure + " unsafe"},
	{pkg: "room/coordinator", may: "room room/budget room/calls room/callcontext room/delivery room/log room/rights room/secrets room/kinds internal/workspace policies/policy endpoints/allow endpoints/endpoint"},
	{pkg: "room/log", may: "room policies/policy"},
	{pkg: "room/log/rows", may: "room room/log"},
	{pkg: "room/log/postgres/pgtest", bare: true}, // a server for tests
	{pkg: "room/log/*", may: "room room/log room/log/rows policies/policy"},

	{pkg: "endpoints/endpoint", bare: true},
	{pkg: "endpoints/allow", may: "endpoints/endpoint"},
	{pkg: "endpoints/check", may: "endpoints/endpoint room"}, // linked into the command, so not the suite
	{pkg: "endpoints/endpointtest", may: "endpoints/endpoint endpoints/check room"},
	{pkg: "endpoints/relay/bus", may: "endpoints/relay/frame"},
	{pkg: "endpoints/relay/envelope", may: "internal/strict", bare: true},
	{pkg: "endpoints/relay/identity", may: "endpoints/relay/frame internal/flock internal/strict"},
	{pkg: "endpoints/relay/session", may: "endpoints/relay/identity internal/strict"},
	{pkg: "endpoints/relay/wire", may: "endpoints/endpoint endpoints/relay/envelope endpoints/relay/session room internal/strict"},
	{pkg: "endpoints/relay/quota", may: "internal/flock endpoints/endpoint endpoints/relay/wire endpoints/relay/envelope endpoints/relay/identity"},
	{pkg: "endpoints/relay", may: "endpoints/endpoint endpoints/relay/wire endpoints/relay/envelope endpoints/relay/identity endpoints/relay/session"},
	{pkg: "endpoints/relay/seat", may: "endpoints/endpoint endpoints/inflight endpoints/relay " + relayParts},
	{pkg: "endpoints/relay/share", may: "endpoints/allow endpoints/endpoint endpoints/relay " + relayParts},
	{pkg: "endpoints/relay/hold", may: "endpoints/endpoint endpoints/session endpoints/relay room " + relayParts},
	{pkg: "endpoints/relay/spectate", may: "endpoints/endpoint endpoints/relay room internal/strict " + relayParts},
	{pkg: "endpoints/relay/...", may: "endpoints/endpoint endpoints/relay/... room internal/flock internal/strict"},
	{pkg: "endpoints/inflight", may: "endpoints/endpoint"},
	{pkg: "endpoints/subprocess", may: "endpoints/endpoint endpoints/inflight internal/spawn"},
	{pkg: "endpoints/webclient", may: "endpoints/endpoint"},
	{pkg: "endpoints/*", may: "endpoints/endpoint endpoints/inflight endpoints/subprocess endpoints/webclient room internal/spawn internal/strict"},

	{pkg: "plugins/wasm", bare: true},
	{pkg: "plugins/wasm/wasmtest", may: "policies/policy", bare: true},
	{pkg: "plugins/guest", may: "policies/policy plugins/wasm", bare: true},
	{pkg: "plugins/pool", may: "policies/policy plugins/guest plugins/wasm", bare: true},
	{pkg: "plugins/compile", may: "internal/atomicfile internal/worker policies/policy plugins/guest plugins/pool plugins/wasm", bare: true},
	{pkg: "plugins/...", may: "policies/policy plugins/...", bare: true},
	{pkg: "transcripts/...", may: "room room/budget room/calls room/kinds room/log room/names room/plan policies/policy transcripts/... internal/strict"},
	{pkg: "replay/history", may: "room/explore room room/names policies/policy"},
	{pkg: "replay/drive", may: "room/explore replay/history room room/names policies/policy policies/habit endpoints/endpoint"},
	{pkg: "replay/score", may: "internal/inference replay/history replay/drive room"},
	{pkg: "replay/report", may: "internal/condition replay/history replay/drive replay/score"},
	{pkg: "replay", may: "policies/policy replay/..."},
	{pkg: "waste", may: "internal/condition internal/minhash policies/policy room room/names transcripts"},
	{pkg: "waste/page", may: "waste"},

	{pkg: "sim", may: "room room/budget room/calls room/invariant room/log room/reference endpoints/endpoint policies/policy", never: "context crypto/rand io/... net/... os/... sync/... syscall/... unsafe"},

	{pkg: "problem", bare: true},
	{pkg: "internal/term", bare: true},
	{pkg: "internal/human", bare: true},
	{pkg: "internal/atomicfile", bare: true},
	{pkg: "internal/strict", bare: true},
	{pkg: "internal/worker", bare: true},
	{pkg: "internal/workspace", bare: true},
	{pkg: "internal/inference", bare: true},
	{pkg: "internal/condition", bare: true},
	{pkg: "internal/logistic", bare: true},
	{pkg: "internal/minhash", bare: true},
	{pkg: "internal/importtest", bare: true},
	{pkg: "internal/mutate", bare: true},
	{pkg: "internal/certfile", bare: true},
	{pkg: "internal/sessions", may: ". endpoints/acp internal/access internal/config internal/strict policies/policy room room/coordinator room/log"},
	{pkg: "internal/access", may: "internal/flock internal/strict"},
	{pkg: "internal/cluster", may: "room/log"},
	{pkg: "internal/flock"},
	{pkg: "internal/natsserver", may: "internal/flock"},
	{pkg: "internal/local", may: "internal/flock"},
	{pkg: "internal/spawn"},
	{pkg: "internal/pack", may: "policies/policy plugins/wasm internal/strict"},
	{pkg: "internal/authoring", may: "policies policies/templates policies/policy plugins plugins/wasm internal/pack"},
	{pkg: "internal/config", may: "room room/kinds policies/policy internal/worker"},
	{pkg: "internal/timeline", may: "endpoints/endpoint room room/budget room/calls room/kinds room/plan room/secrets room/coordinator policies/policy internal/config internal/inbox"},
	{pkg: "internal/termtest", bare: true},
	{pkg: "internal/page"},
	{pkg: "internal/metrics", may: "policies/policy room room/coordinator"},
	{pkg: "internal/tracing", may: "policies/policy room room/coordinator"},
	{pkg: "internal/preset", may: "endpoints/acp"},
	{pkg: "internal/fork", may: "room room/log"},
	{pkg: "internal/transfer", may: "room room/log"},
	{pkg: "internal/sight", may: "endpoints/endpoint policies/policy room room/coordinator room/explore room/log"},
	{pkg: "internal/inbox", may: "internal/spawn room room/calls room/log"},

	{pkg: "examples/...", may: "policies/policy"},
	{pkg: "test/agents/model", bare: true},
	{pkg: "test/agents/fakemodel", may: "test/agents/model"},
	{pkg: "test/...", may: "room/... policies/... plugins/... endpoints/... transcripts/... replay/... waste/... internal/... examples/..."},
	{pkg: "internal/catalog", may: "internal/authoring internal/config internal/pack plugins policies policies/policy room room/log"},
	{pkg: ".", may: "room/... policies policies/policy plugins endpoints/... internal/access internal/catalog internal/config internal/inbox internal/natsserver internal/pack"},
	{pkg: "internal/api", may: "endpoints/relay/device endpoints/relay/identity internal/access policies/policy replay room room/calls room/coordinator room/delivery room/log room/plan room/secrets"},
	{pkg: "internal/mcp", may: "internal/api room/kinds"},
	{pkg: "internal/roomlist", may: "internal/api room room/log"},
	{pkg: "internal/client", may: "internal/api internal/inbox internal/local room room/calls room/coordinator room/delivery"},
	{pkg: "internal/server/...", may: ". endpoints/relay/device endpoints/relay/identity endpoints/relay/spectate internal/access internal/api internal/client internal/fork internal/inbox internal/local internal/mcp internal/page internal/preset internal/roomlist internal/server/... internal/sessions internal/sight internal/strict policies/policy replay replay/drive replay/history replay/report room room/calls room/coordinator room/delivery room/log transcripts"},
	{pkg: "internal/cli/...", may: ". internal/access internal/api internal/client internal/cluster internal/fork internal/sight internal/local internal/mcp internal/metrics internal/preset internal/roomlist internal/server/... internal/sessions internal/tracing internal/transfer internal/cli/... internal/authoring internal/catalog internal/condition internal/inference internal/config internal/flock internal/inbox internal/natsserver internal/pack internal/spawn internal/timeline " +
		"endpoints/acp endpoints/check endpoints/endpoint endpoints/relay/... examples plugins plugins/wasm policies policies/... replay/... " +
		"room room/budget room/calls room/coordinator room/delivery room/kinds room/log room/log/audit room/plan room/rights room/secrets sim transcripts/... waste/..."},
	{pkg: "cmd/moot", may: "internal/cli"},
}

// A reserve limits a third-party library to the packages that wrap it, so that
// replacing it stays a local change.
type reserve struct{ lib, packages string }

var reserves = []reserve{
	{"github.com/spf13/viper/...", "internal/config"},
	{"github.com/spf13/cobra/...", "internal/cli/..."},
	{"charm.land/...", "internal/timeline"},
	{"github.com/santhosh-tekuri/jsonschema/v6/...", "internal/config plugins/... policies/policytest internal/cli/... internal/server"},
	{"github.com/tetratelabs/wazero/...", "plugins/... test/fold"},
	{"aead.dev/minisign", "internal/pack"},
	{"golang.org/x/mod/...", "internal/pack"},
	{"github.com/go-json-experiment/json/...", "internal/strict transcripts/foreign"},
	{"github.com/flynn/noise", "endpoints/relay/session"},
	{"github.com/gorilla/websocket/...", "endpoints/relay/... internal/server internal/client"},
	{"github.com/danielgtaylor/huma/v2/...", "internal/server"},
	{"github.com/modelcontextprotocol/go-sdk/...", "internal/mcp test/mcp test/processes"},
	{"github.com/sashabaranov/go-openai/...", "endpoints/openai"},
	{"github.com/a2aproject/a2a-go/...", "endpoints/a2a internal/server/a2aroom"},
	{"github.com/VictoriaMetrics/metrics/...", "endpoints/relay/server"},
	{"github.com/prometheus/client_golang/...", "internal/metrics"},
	{"go.opentelemetry.io/...", "internal/tracing test/processes"},
	{"google.golang.org/protobuf/...", "internal/tracing test/processes"},
	{"github.com/yuin/goldmark/...", "internal/page"},
	{"github.com/microcosm-cc/bluemonday", "internal/page"},
	{"modernc.org/sqlite/...", "room/log/sqlite"},
	{"github.com/nats-io/nats.go/...", "internal/natsserver room/log/jetstream endpoints/relay/bus test/cluster"},
	{"github.com/nats-io/nats-server/...", "internal/natsserver room/log/jetstream endpoints/relay/relaytest internal/transfer test/cluster"}, // but for the first only in tests
	{"github.com/jackc/pgx/v5/...", "room/log/postgres"},
	{"github.com/anishathalye/porcupine", "room/log/logtest room/coordinator test/cluster"}, // in tests
}

// wired are the packages whose constructors may be called by wire.go of the
// root package only: one file shows the concrete types of the program.
const wired = "room/log/* plugins endpoints/a2a endpoints/acp endpoints/ndjson endpoints/command endpoints/openai endpoints/scripted endpoints/session endpoints/relay endpoints/relay/bus endpoints/relay/client endpoints/relay/device " +
	"endpoints/relay/seat endpoints/relay/server endpoints/relay/hold endpoints/relay/session endpoints/relay/share endpoints/relay/spectate"

// mayConstruct are the exceptions: the parts of the relay construct each
// other, and policytest constructs a sandbox for the tests of policy authors.
const mayConstruct = "endpoints/relay/... policies/policytest test/... examples/..."

// ruleFor returns the rule of a package of this module.
func ruleFor(pkg string) (rule, bool) {
	for _, r := range rules {
		if match(r.pkg, pkg) {
			return r, true
		}
	}
	return rule{}, false
}

// allows says whether r lets its package import dep, of this module.
func (r rule) allows(dep string) bool {
	return matchAny(r.may, dep) || !r.bare && matchAny(leaves, dep)
}

func matchAny(list, s string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(p string) bool { return match(p, s) })
}

// match reports whether s matches pattern p.
func match(p, s string) bool {
	if p == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(p, "/..."); ok {
		if ok, _ := path.Match(base, s); ok {
			return true
		}
		n := strings.Count(base, "/") + 1
		parts := strings.Split(s, "/")
		if len(parts) <= n {
			return false
		}
		ok, _ := path.Match(base, strings.Join(parts[:n], "/"))
		return ok
	}
	ok, _ := path.Match(p, s)
	return ok
}
