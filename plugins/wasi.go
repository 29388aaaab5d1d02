package plugins

import (
	"context"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// Error numbers of WASI preview 1
// (https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md#errno).
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

var logLevels = [...]string{"debug", "info", "warn", "error"}

// hostLog is roompolicy.log(level, ptr, len).
func hostLog(ctx context.Context, m api.Module, s []uint64) {
	w := worldOf(ctx)
	w.charge(uint32(s[2]), 4)
	text, ok := m.Memory().Read(uint32(s[1]), uint32(s[2]))
	if !ok || w.cut {
		return
	}
	level := logLevels[min(uint32(s[0]), uint32(len(logLevels)-1))]
	w.write([]byte(level + ": "))
	w.write(text)
	w.write([]byte{'\n'})
}

// wasiNone has nothing to give and nothing to do.
func wasiNone(_ context.Context, _ api.Module, s []uint64) { s[0] = errnoSuccess }

// wasiNoFile answers for file descriptors, of which there are none.
func wasiNoFile(_ context.Context, _ api.Module, s []uint64) { s[0] = errnoBadF }

func wasiNoSizes(_ context.Context, m api.Module, s []uint64) {
	s[0] = put32(m, [2]uint32{uint32(s[0]), 0}, [2]uint32{uint32(s[1]), 0})
}

// initEnviron is what Go's runtime sees while a module is set up, and only
// then: no garbage collection before the heap nears its bound, so that the
// frozen heap is dense and a decision seldom collects.
var initEnviron = []string{"GOGC=off", "GOMEMLIMIT=12MiB"}

func wasiEnvironSizes(ctx context.Context, m api.Module, s []uint64) {
	env := worldOf(ctx).environ
	s[0] = put32(m, [2]uint32{uint32(s[0]), uint32(len(env))},
		[2]uint32{uint32(s[1]), uint32(len(strings.Join(env, "\x00")) + min(len(env), 1))})
}

func wasiEnviron(ctx context.Context, m api.Module, s []uint64) {
	at, data := uint32(s[0]), uint32(s[1])
	s[0] = errnoSuccess
	for _, e := range worldOf(ctx).environ {
		if put32(m, [2]uint32{at, data}) != errnoSuccess || !m.Memory().WriteString(data, e+"\x00") {
			s[0] = errnoFault
			return
		}
		at, data = at+4, data+uint32(len(e))+1
	}
}

// wasiClock is the input's clock, whatever clock is asked for. It is never
// zero, which Go's runtime would not accept.
func wasiClock(ctx context.Context, m api.Module, s []uint64) {
	s[0] = put64(m, uint32(s[2]), uint64(worldOf(ctx).nowNS)+1)
}

func wasiClockResolution(_ context.Context, m api.Module, s []uint64) {
	s[0] = put64(m, uint32(s[1]), 1e6)
}

func wasiRandom(ctx context.Context, m api.Module, s []uint64) {
	w := worldOf(ctx)
	w.charge(uint32(s[1]), 1)
	b, ok := m.Memory().Read(uint32(s[0]), uint32(s[1]))
	if !ok {
		s[0] = errnoFault
		return
	}
	w.fill(b)
	s[0] = errnoSuccess
}

// wasiWrite keeps what is written to standard output and error in the log.
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
	w, mem, total := worldOf(ctx), m.Memory(), uint32(0)
	for i := range n {
		ptr, ok1 := mem.ReadUint32Le(at + i*8)
		size, ok2 := mem.ReadUint32Le(at + i*8 + 4)
		b, ok3 := mem.Read(ptr, size)
		if !ok1 || !ok2 || !ok3 {
			s[0] = errnoFault
			return
		}
		w.charge(size, 4)
		w.write(b)
		total += size
	}
	s[0] = put32(m, [2]uint32{result, total})
}

// wasiStat says that standard output and error are character devices.
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

// wasiPoll answers at once: sleeping moves the clock instead of taking time.
// Layout of subscription and event:
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md#subscription
func wasiPoll(ctx context.Context, m api.Module, s []uint64) {
	in, out, n, result := uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	if n == 0 || n > maxSubscriptions {
		s[0] = errnoInval
		return
	}
	w, mem := worldOf(ctx), m.Memory()
	for i := range n {
		sub, ok := mem.Read(in+i*48, 48)
		if !ok {
			s[0] = errnoFault
			return
		}
		var event [32]byte
		copy(event[:8], sub[:8]) // userdata
		event[10] = sub[8]       // kind
		if sub[8] == 0 {
			w.sleep(le64(sub[24:]), sub[40]&1 != 0)
		} else {
			event[8] = errnoBadF
		}
		if !mem.Write(out+i*32, event[:]) {
			s[0] = errnoFault
			return
		}
	}
	s[0] = put32(m, [2]uint32{result, n})
}

// wasiExit ends the call. The error comes back from it as it is.
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
