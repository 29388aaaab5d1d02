package guest

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// Error numbers of WASI preview 1:
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md#errno
const (
	errnoSuccess = 0
	errnoBadF    = 8
	errnoFault   = 21
	errnoInval   = 28
)

const (
	maxVectors       = 1024 // buffers of one fd_write, as IOV_MAX
	maxSubscriptions = 64   // of one poll_oneoff
)

// Fuel that host functions cost in addition to the cost of a call. BenchmarkFuel of
// package pool measures each.
const (
	costVector       = 16
	costSubscription = 64
	costSeed         = 1000 // the first random number of a decision
	bytesPerUnit     = 4    // of text
)

var logLevels = [...]string{"debug", "info", "warn", "error"}

// hostLog implements roompolicy.log(level, ptr, len).
func hostLog(ctx context.Context, m api.Module, s []uint64) {
	e := envOf(ctx)
	text, ok := m.Memory().Read(uint32(s[1]), uint32(s[2]))
	if !ok {
		return
	}
	e.charge(int64(len(text)) / bytesPerUnit)
	if e.truncated {
		return
	}
	level := logLevels[min(uint32(s[0]), uint32(len(logLevels)-1))]
	e.write([]byte(level + ": "))
	e.write(text)
	e.write([]byte{'\n'})
}

// wasiNone succeeds and does nothing.
func wasiNone(_ context.Context, _ api.Module, s []uint64) { s[0] = errnoSuccess }

// wasiNoFile refuses a file descriptor: a policy has no files.
func wasiNoFile(_ context.Context, _ api.Module, s []uint64) { s[0] = errnoBadF }

func wasiNoSizes(_ context.Context, m api.Module, s []uint64) {
	s[0] = put32(m, [2]uint32{uint32(s[0]), 0}, [2]uint32{uint32(s[1]), 0})
}

func wasiEnvironSizes(ctx context.Context, m api.Module, s []uint64) {
	env := envOf(ctx).environ()
	s[0] = put32(m, [2]uint32{uint32(s[0]), uint32(len(env))},
		[2]uint32{uint32(s[1]), uint32(len(strings.Join(env, "\x00")) + min(len(env), 1))})
}

func wasiEnviron(ctx context.Context, m api.Module, s []uint64) {
	at, data := uint32(s[0]), uint32(s[1])
	s[0] = errnoSuccess
	for _, v := range envOf(ctx).environ() {
		if put32(m, [2]uint32{at, data}) != errnoSuccess || !m.Memory().WriteString(data, v+"\x00") {
			s[0] = errnoFault
			return
		}
		at, data = at+4, data+uint32(len(v))+1
	}
}

// wasiClock returns the input's clock for every clock id. It is never zero,
// because Go's runtime does not accept that.
func wasiClock(ctx context.Context, m api.Module, s []uint64) {
	s[0] = put64(m, uint32(s[2]), uint64(envOf(ctx).clock)+1)
}

func wasiClockResolution(_ context.Context, m api.Module, s []uint64) {
	s[0] = put64(m, uint32(s[1]), 1e6)
}

func wasiRandom(ctx context.Context, m api.Module, s []uint64) {
	e := envOf(ctx)
	b, ok := m.Memory().Read(uint32(s[0]), uint32(s[1]))
	if !ok {
		s[0] = errnoFault
		return
	}
	e.charge(int64(len(b)))
	e.readRandom(b)
	s[0] = errnoSuccess
}

// wasiWrite appends writes to standard output and error to the log.
func wasiWrite(ctx context.Context, m api.Module, s []uint64) {
	fd, at, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if fd != 1 && fd != 2 {
		s[0] = errnoBadF
		return
	}
	if n > maxVectors {
		s[0] = errnoInval
		return
	}
	e, mem, total := envOf(ctx), m.Memory(), uint32(0)
	e.charge(int64(n) * costVector)
	vectors, ok := mem.Read(at, n*8)
	if !ok {
		s[0] = errnoFault
		return
	}
	for ; len(vectors) > 0; vectors = vectors[8:] {
		size := binary.LittleEndian.Uint32(vectors[4:])
		b, ok := mem.Read(binary.LittleEndian.Uint32(vectors), size)
		if !ok {
			s[0] = errnoFault
			return
		}
		e.charge(int64(size) / bytesPerUnit)
		e.write(b)
		total += size
	}
	s[0] = put32(m, [2]uint32{result, total})
}

// wasiStat says that the standard streams are character devices.
func wasiStat(_ context.Context, m api.Module, s []uint64) {
	fd, at := uint32(s[0]), uint32(s[1])
	if fd > 2 {
		s[0] = errnoBadF
		return
	}
	var stat [24]byte
	stat[0] = 2 // character_device
	s[0] = errnoSuccess
	if !m.Memory().Write(at, stat[:]) {
		s[0] = errnoFault
	}
}

// wasiPoll returns at once: a sleep advances the clock and takes no time.
// Layout of subscription and event:
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md#subscription
func wasiPoll(ctx context.Context, m api.Module, s []uint64) {
	in, out, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if n == 0 || n > maxSubscriptions {
		s[0] = errnoInval
		return
	}
	e, mem := envOf(ctx), m.Memory()
	e.charge(int64(n) * costSubscription)
	subs, ok1 := mem.Read(in, n*48)
	events, ok2 := mem.Read(out, n*32)
	if !ok1 || !ok2 {
		s[0] = errnoFault
		return
	}
	for i := range n {
		sub := [48]byte(subs[i*48:]) // a copy: the events may lie over it
		event := events[i*32:][:32]
		clear(event)
		copy(event, sub[:8]) // userdata
		event[10] = sub[8]   // kind
		if sub[8] == 0 {
			e.sleep(binary.LittleEndian.Uint64(sub[24:]), sub[40]&1 != 0)
		} else {
			event[8] = errnoBadF
		}
	}
	s[0] = put32(m, [2]uint32{result, n})
}

// wasiExit ends the call with a [sys.ExitError].
func wasiExit(_ context.Context, _ api.Module, s []uint64) { panic(sys.NewExitError(uint32(s[0]))) }

func put32(m api.Module, pairs ...[2]uint32) uint64 {
	for _, p := range pairs {
		if !m.Memory().WriteUint32Le(p[0], p[1]) {
			return errnoFault
		}
	}
	return errnoSuccess
}

func put64(m api.Module, at uint32, v uint64) uint64 {
	if !m.Memory().WriteUint64Le(at, v) {
		return errnoFault
	}
	return errnoSuccess
}
