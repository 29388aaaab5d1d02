package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	moduleHost = "roompolicy"
	moduleWASI = "wasi_snapshot_preview1"
)

// A hostFunction is a function that a module may import.
type hostFunction struct {
	module, name    string
	params, results []api.ValueType
	call            api.GoModuleFunc
}

// hostFunctions are all imports that a module may have: the log, and the calls
// of WASI that the Go and C libraries link in. They have no effect outside Env.
var hostFunctions = []hostFunction{
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

// types decodes a signature: i is i32, I is i64.
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

func findHostFunction(module, name string) *hostFunction {
	i := slices.IndexFunc(hostFunctions, func(im hostFunction) bool { return im.module == module && im.name == name })
	if i < 0 {
		return nil
	}
	return &hostFunctions[i]
}

// checkImport refuses an import that the sandbox does not have.
func checkImport(where, module, name string, params, results []api.ValueType) error {
	im := findHostFunction(module, name)
	if im == nil {
		return &Error{
			Code: CodeImports, Where: where, What: fmt.Sprintf("imports %q %q, which the sandbox does not give", Clip(module), Clip(name)),
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

// instantiateImports adds the host functions to r.
func instantiateImports(ctx context.Context, r wazero.Runtime) error {
	for _, module := range []string{moduleHost, moduleWASI} {
		b := r.NewHostModuleBuilder(module)
		for _, im := range hostFunctions {
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
