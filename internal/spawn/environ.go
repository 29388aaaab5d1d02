package spawn

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/folkmoot/moot/problem"
)

// passed are the variables that every agent gets. Other variables may contain
// secrets.
var passed = []string{"PATH", "HOME", "LANG", "LC_*", "TZ", "TMPDIR"}

// passedWindows are variables that most Windows programs need to start.
var passedWindows = []string{"SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE"}

// environ returns the allowed variables of base and those of cfg.Env, which take
// precedence.
func environ(cfg Config, base []string, dir string) ([]string, error) {
	allow := slices.Concat(passed, cfg.AllowEnv)
	if runtime.GOOS == "windows" {
		allow = append(allow, passedWindows...)
	}
	for _, a := range cfg.AllowEnv {
		if strings.TrimSuffix(a, "*") == "" || strings.ContainsAny(a, "=\x00") {
			return nil, &problem.Error{
				Code: "AGENT-ENV", What: "cannot pass on the environment variables " + strconv.Quote(a),
				Fix: "name each variable, or a prefix followed by *",
			}
		}
	}
	env := make([]string, 0, len(cfg.Env)+8)
	for _, kv := range base {
		if name, _, ok := strings.Cut(kv, "="); ok && name != "PWD" && allowed(name, allow) {
			env = append(env, kv)
		}
	}
	if dir != "" {
		env = append(env, "PWD="+dir)
	}
	for _, kv := range cfg.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.ContainsRune(kv, 0) {
			return nil, &problem.Error{
				Code: "AGENT-ENV", What: "an environment entry of the agent is not KEY=VALUE",
				Fix: "write it as NAME: value under env:",
			}
		}
		env = append(env, kv) // exec uses the last entry of a name
	}
	return env, nil
}

func allowed(name string, list []string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		prefix, ok := strings.CutSuffix(a, "*")
		return a == name || ok && strings.HasPrefix(name, prefix)
	})
}

// lookup returns the last value of a variable.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
