package plugins

import (
	"bytes"
	"context"
	"testing"

	w "github.com/folkmoot/moot/plugins/wasm/wasmtest"

	"github.com/folkmoot/moot/plugins/guest"
)

const (
	wasi       = "wasi_snapshot_preview1"
	moduleHost = "roompolicy"

	errnoBadF  = 8
	errnoFault = 21
	errnoInval = 28
)

// calling returns a policy that calls an import with constants. It answers with
// the low byte of the result and eight bytes from address 512.
func calling(module, name string, args ...int64) []byte {
	params, results := bytes.Repeat([]byte{w.I32}, len(args)), []byte{w.I32}
	if name == "clock_time_get" || name == "fd_seek" {
		params[1] = w.I64
	}
	if module == moduleHost {
		results = nil
	}
	m := &w.Module{}
	m.Memory(1, -1)
	m.Export("memory", w.Memory, 0)
	f := m.Import(module, name, params, results)
	m.Finish()
	m.Data(256, []byte{0x00, 0x02, 0, 0, 3, 0, 0, 0, 0x03, 0x02, 0, 0, 4, 0, 0, 0}) // two vectors: 512+3, 515+4
	m.Data(300, []byte{0xff, 0xff, 0xff, 0x7f, 1})                                  // one that lies outside
	m.Data(400, []byte{9, 9, 9, 9, 9, 9, 9, 9, 0})                                  // a subscription: of the clock
	m.Data(424, []byte{0, 0xe4, 0x0b, 0x54, 0x02})                                  // in 10 s
	m.Data(512, []byte("abcdefg"))
	var push []byte
	for i, a := range args {
		if params[i] == w.I64 {
			push = append(push, w.I64Const(a)...)
		} else {
			push = append(push, w.I32Const(int32(a))...)
		}
	}
	call := cat(push, w.Call(f))
	if len(results) == 0 {
		call = append(call, w.I32Const(77)...)
	}
	m.Decide([]byte{w.I32}, call, w.LocalSet(2), w.I32Const(511), w.LocalGet(2), w.Mem(0x3a, 0, 0), w.I64Const(511<<32|9))
	return m.Bytes()
}

// TestImports: the host functions, with valid and invalid arguments.
func TestImports(t *testing.T) {
	for _, tt := range []struct {
		name, module, call string
		args               []int64
		errno              byte
		memory, log        string
	}{
		{"log", moduleHost, "log", []int64{2, 512, 7}, 77, "abcdefg\x00", "warn: abcdefg\n"},
		{"log, unknown level", moduleHost, "log", []int64{99, 512, 1}, 77, "abcdefg\x00", "error: a\n"},
		{"log, outside", moduleHost, "log", []int64{0, -5, 7}, 77, "abcdefg\x00", ""},
		{"write", wasi, "fd_write", []int64{1, 256, 2, 512}, 0, "\x07\x00\x00\x00efg\x00", "abcdefg"},
		{"write, no such file", wasi, "fd_write", []int64{3, 256, 2, 512}, errnoBadF, "abcdefg\x00", ""},
		{"write, outside", wasi, "fd_write", []int64{1, 300, 1, 512}, errnoFault, "abcdefg\x00", ""},
		{"write, many vectors", wasi, "fd_write", []int64{1, 256, 1025, 512}, errnoInval, "abcdefg\x00", ""},
		{"clock", wasi, "clock_time_get", []int64{0, 1, 512}, 0, "\x01\xf2\x05\x2a\x01\x00\x00\x00", ""},
		{"clock, outside", wasi, "clock_time_get", []int64{0, 1, -1}, errnoFault, "abcdefg\x00", ""},
		{"resolution", wasi, "clock_res_get", []int64{0, 512}, 0, "\x40\x42\x0f\x00\x00\x00\x00\x00", ""},
		{"random, outside", wasi, "random_get", []int64{65530, 10}, errnoFault, "abcdefg\x00", ""},
		{"random, nothing", wasi, "random_get", []int64{512, 0}, 0, "abcdefg\x00", ""},
		{"arguments", wasi, "args_sizes_get", []int64{512, 516}, 0, "\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"arguments, outside", wasi, "args_sizes_get", []int64{-4, 512}, errnoFault, "abcdefg\x00", ""},
		{"environment", wasi, "environ_sizes_get", []int64{512, 516}, 0, "\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"environment, list", wasi, "environ_get", []int64{512, 516}, 0, "abcdefg\x00", ""},
		{"read", wasi, "fd_read", []int64{0, 256, 1, 512}, errnoBadF, "abcdefg\x00", ""},
		{"seek", wasi, "fd_seek", []int64{1, 0, 0, 512}, errnoBadF, "abcdefg\x00", ""},
		{"close", wasi, "fd_close", []int64{1}, errnoBadF, "abcdefg\x00", ""},
		{"preopened", wasi, "fd_prestat_get", []int64{3, 512}, errnoBadF, "abcdefg\x00", ""},
		{"stat", wasi, "fd_fdstat_get", []int64{1, 512}, 0, "\x02\x00\x00\x00\x00\x00\x00\x00", ""},
		{"stat, no such file", wasi, "fd_fdstat_get", []int64{3, 512}, errnoBadF, "abcdefg\x00", ""},
		{"stat, outside", wasi, "fd_fdstat_get", []int64{1, -9}, errnoFault, "abcdefg\x00", ""},
		{"sleep", wasi, "poll_oneoff", []int64{400, 512, 1, 508}, 0, "\x09\x09\x09\x09\x09\x09\x09\x09", ""},
		{"sleep, nothing", wasi, "poll_oneoff", []int64{400, 512, 0, 600}, errnoInval, "abcdefg\x00", ""},
		{"sleep, much", wasi, "poll_oneoff", []int64{400, 512, 65, 600}, errnoInval, "abcdefg\x00", ""},
		{"sleep, outside", wasi, "poll_oneoff", []int64{-47, 512, 1, 600}, errnoFault, "abcdefg\x00", ""},
		{"yield", wasi, "sched_yield", nil, 0, "abcdefg\x00", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := load(t, newHost(t, Config{}), calling(tt.module, tt.call, tt.args...))
			r, err := p.Run(context.Background(), []byte(`{"now_ms":5000}`))
			if err != nil {
				t.Fatal(err)
			}
			if r.Output[0] != tt.errno || string(r.Output[1:]) != tt.memory || r.Log != tt.log {
				t.Errorf("%d %q, log %q; want %d %q %q", r.Output[0], r.Output[1:], r.Log, tt.errno, tt.memory, tt.log)
			}
		})
	}
}

// TestRandom: the random stream depends on the seed only.
func TestRandom(t *testing.T) {
	p := load(t, newHost(t, Config{}), calling(wasi, "random_get", 512, 8))
	get := func(input string) string {
		r, err := p.Run(context.Background(), []byte(input))
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Output[1:])
	}
	a, b := get(`{"seed":"a"}`), get(`{"seed":"b"}`)
	if a == b || a == "abcdefg\x00" || a != get(`{"seed":"a","now_ms":9}`) {
		t.Errorf("%q %q", a, b)
	}
}

// TestLogIsBounded: the beginning of a long log is kept.
func TestLogIsBounded(t *testing.T) {
	m := &w.Module{}
	m.Memory(1, -1)
	m.Export("memory", w.Memory, 0)
	log := m.Import(moduleHost, "log", []byte{w.I32, w.I32, w.I32}, nil)
	m.Finish()
	m.Data(w.AnswerAt, []byte(spoken))
	m.Decide(nil, w.Repeat(300, w.I32Const(1), w.I32Const(w.AnswerAt), w.I32Const(int32(len(spoken))), w.Call(log)), w.Answer(len(spoken)))
	_, rec, err := load(t, newHost(t, Config{}), m.Bytes()).Propose(context.Background(), roster)
	if err != nil || len(rec.Log) != guest.MaxLog {
		t.Errorf("%d bytes, %v", len(rec.Log), err)
	}
}
