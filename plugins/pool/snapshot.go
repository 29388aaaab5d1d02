package pool

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/folkmoot/moot/plugins/guest"
)

// A snapshot is everything mutable in an instance that was set up: its memory
// and its mutable globals.
type snapshot struct {
	memory  []byte   // whole pages of WebAssembly
	globals []uint64 // in the order of wasm.Metered.Mutable
	log     string   // what the module logged while it was set up
}

// takeSnapshot takes the snapshot of an instance. It closes the instance and
// keeps its memory.
func takeSnapshot(in *instance, names []string) *snapshot {
	s := &snapshot{memory: in.memory.buf[:in.module.Memory().Size()], log: in.env.Logged()}
	for _, name := range names {
		s.globals = append(s.globals, in.module.ExportedGlobal(name).Get())
	}
	in.close()
	return s
}

// An encoded snapshot is snapshotMagic, the SHA-256 of the rest, and the rest:
// log, globals and memory, as little-endian numbers of four and eight bytes.
// The memory is a list of runs of pages that are not all zeros.
const snapshotMagic = "moot policy image 1\n"

var errSnapshot = errors.New("a damaged snapshot")

// appendBinary appends the encoded snapshot.
func (s *snapshot) appendBinary(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, snapshotMagic...)
	dst = append(dst, make([]byte, sha256.Size)...)
	body := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.log)))
	dst = append(dst, s.log...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.globals)))
	for _, g := range s.globals {
		dst = binary.LittleEndian.AppendUint64(dst, g)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.memory)))
	for _, run := range appendPageRuns(nil, s.memory, 0, len(s.memory)) {
		if run.zero {
			continue
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(run.from))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(run.to-run.from))
		dst = append(dst, s.memory[run.from:run.to]...)
	}
	sum := sha256.Sum256(dst[body:])
	copy(dst[start+len(snapshotMagic):], sum[:])
	return dst
}

// decodeSnapshot decodes the snapshot of a module with so many mutable globals.
func decodeSnapshot(b []byte, globals int) (*snapshot, error) {
	b, ok := bytes.CutPrefix(b, []byte(snapshotMagic))
	if !ok || len(b) < sha256.Size {
		return nil, errSnapshot
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil, errSnapshot
	}
	r := snapshotReader{b: b[sha256.Size:]}
	s := &snapshot{log: string(r.take(r.u32(), guest.MaxLog))}
	if n := r.u32(); int64(n) != int64(globals) {
		return nil, errSnapshot
	}
	for range globals {
		s.globals = append(s.globals, r.u64())
	}
	size := r.u32()
	if size > guest.MaxMemoryPages<<16 || size%(1<<16) != 0 {
		return nil, errSnapshot
	}
	s.memory = make([]byte, size)
	for !r.bad && len(r.b) > 0 {
		at, n := r.u32(), r.u32()
		run := r.take(n, int(size))
		if uint64(at)+uint64(n) > uint64(size) {
			return nil, errSnapshot
		}
		copy(s.memory[at:], run)
	}
	if r.bad {
		return nil, errSnapshot
	}
	return s, nil
}

// A snapshotReader reads numbers and bytes. After an error it returns zeros.
type snapshotReader struct {
	b   []byte
	bad bool
}

func (r *snapshotReader) take(n uint32, limit int) []byte {
	if int64(n) > int64(len(r.b)) || int64(n) > int64(limit) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *snapshotReader) u32() uint32 {
	if b := r.take(4, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *snapshotReader) u64() uint64 {
	if b := r.take(8, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
