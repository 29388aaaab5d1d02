package plugins

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	moduleHost = "roompolicy"
	moduleWASI = "wasi_snapshot_preview1"
)

// An importable is a function that a guest may import.
type importable struct {
	module, name    string
	params, results []api.ValueType
	call            api.GoModuleFunc
}

// importables are all that a guest may import: one function of ours and the
// calls of WASI that the Go and C libraries link in, all inert.
var importables = []importable{
	{moduleHost, "log", types("iii"), nil, hostLog},
	{moduleWASI, "args_get", types("ii"), types("i"), wasiNone},
	{moduleWASI, "args_sizes_get", types("ii"), types("i"), wasiNoSizes},
	{moduleWASI, "environ_get", types("ii"), types("i"), wasiEnviron},
	{moduleWASI, "environ_sizes_get", types("ii"), types("i"), wasiEnvironSizes},
	{moduleWASI, "clock_time_get", types("iIi"), types("i"), wasiClock},
	{moduleWASI, "clock_res_get", types("ii"), types("i"), wasiClockResolution},
	{moduleWASI, "random_get", types("ii"), types("i"), wasiRandom},
	{moduleWASI, "fd_write", types("iiii"), types("i"), wasiWrite},
	{moduleWASI, "fd_read", types("iiii"), types("i"), wasiNoFile},
	{moduleWASI, "fd_seek", types("iIii"), types("i"), wasiNoFile},
	{moduleWASI, "fd_close", types("i"), types("i"), wasiNoFile},
	{moduleWASI, "fd_fdstat_get", types("ii"), types("i"), wasiStat},
	{moduleWASI, "fd_fdstat_set_flags", types("ii"), types("i"), wasiNoFile},
	{moduleWASI, "fd_prestat_get", types("ii"), types("i"), wasiNoFile},
	{moduleWASI, "fd_prestat_dir_name", types("iii"), types("i"), wasiNoFile},
	{moduleWASI, "poll_oneoff", types("iiii"), types("i"), wasiPoll},
	{moduleWASI, "sched_yield", nil, types("i"), wasiNone},
	{moduleWASI, "proc_exit", types("i"), nil, wasiExit},
}

// types reads i for i32 and I for i64.
func types(s string) []api.ValueType {
	var ts []api.ValueType
	for _, c := range s {
		if c == 'i' {
			ts = append(ts, i32)
		} else {
			ts = append(ts, i64)
		}
	}
	return ts
}

func findImportable(module, name string) *importable {
	i := slices.IndexFunc(importables, func(im importable) bool { return im.module == module && im.name == name })
	if i < 0 {
		return nil
	}
	return &importables[i]
}

// checkImport refuses an import that the sandbox does not give.
func checkImport(where, module, name string, params, results []api.ValueType) error {
	im := findImportable(module, name)
	if im == nil {
		return &Error{
			Code: CodeImports, Where: where, What: fmt.Sprintf("imports %q %q, which the sandbox does not give", clip(module), clip(name)),
			Fix: "remove what needs it: a policy has no files, network, arguments or environment; it may import roompolicy.log",
		}
	}
	if signature(params, results) != signature(im.params, im.results) {
		return &Error{
			Code: CodeImports, Where: where, What: fmt.Sprintf("imports %s.%s with the type %s", module, name, signature(params, results)),
			Fix: "import it with the type " + signature(im.params, im.results),
		}
	}
	return nil
}

// clip bounds a name that a module chose.
func clip(s string) string {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// instantiateImports gives r the modules that guests import.
func instantiateImports(ctx context.Context, r wazero.Runtime) error {
	for _, module := range []string{moduleHost, moduleWASI} {
		b := r.NewHostModuleBuilder(module)
		for _, im := range importables {
			if im.module == module {
				b.NewFunctionBuilder().WithGoModuleFunction(im.call, im.params, im.results).Export(im.name)
			}
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("building host module %s: %w", module, err)
		}
	}
	return nil
}
