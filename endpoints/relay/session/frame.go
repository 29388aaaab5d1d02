package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Kinds of payloads between two devices, in the first byte.
const (
	kindPair1 = 1 // invite id[16], Noise message 1
	kindPair2 = 2 // invite id[16], Noise message 2
	kindHS1   = 3 // Noise message 1
	kindHS2   = 4 // Noise message 2
	kindData  = 5 // header, ciphertext
	kindReset = 6 // tag[4]
	kindCtl   = 7 // header, ciphertext
)

// Types of data frames, then of ctl frames.
const (
	typeMsg  = 1
	typeFrag = 2

	typeAck  = 1
	typePing = 2
	typePong = 3
)

const (
	headerSize   = 1 + 4 + 8 // kind, tag, number: additional authenticated data
	sealSize     = 16        // Poly1305
	dataFixed    = 1 + 4     // type, length
	ctlPlainSize = 64
	ctlFrameSize = headerSize + ctlPlainSize + sealSize
	fragFixed    = 4 + 2 + 2 // message, index, count
	maxPayload   = 65_536    // limit of the relay
)

// buckets are the padded sizes of data plaintexts. Padding hides the length.
var buckets = [...]int{256, 1_024, 4_096, 16_384, 49_152}

const (
	maxBody  = 49_152 - dataFixed
	maxChunk = maxBody - fragFixed
)

// MaxMessage is the maximum size of a message, in bytes.
const MaxMessage = 256 << 10

const maxFragments = (MaxMessage + maxChunk - 1) / maxChunk

var errFrame = errors.New("malformed frame")

// errAhead reports an acknowledgement of frames that were never sent. An honest
// peer sends one if a lost handshake made it continue a stream that this side
// has started again.
var errAhead = errors.New("acknowledged ahead of what was sent")

type tag [4]byte

// header is the first part of data and ctl frames.
type header struct {
	kind   byte
	tag    tag
	number uint64 // seq of data, ctr of ctl
}

func (h header) encode() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, h.kind)
	b = append(b, h.tag[:]...)
	return binary.BigEndian.AppendUint64(b, h.number)
}

// parseHeader reads the header of a data or ctl payload; the ciphertext follows
// it. It rejects impossible sizes before anything is decrypted.
func parseHeader(payload []byte) (h header, err error) {
	if len(payload) < headerSize {
		return h, errFrame
	}
	h = header{kind: payload[0], tag: tag(payload[1:5]), number: binary.BigEndian.Uint64(payload[5:])}
	if h.kind == kindCtl && len(payload) == ctlFrameSize || h.kind == kindData && isBucket(len(payload)-headerSize-sealSize) {
		return h, nil
	}
	return h, errFrame
}

func isBucket(n int) bool { return slices.Contains(buckets[:], n) }

// encodeData pads body, which has at most maxBody bytes, to the next bucket.
func encodeData(typ byte, body []byte) []byte {
	size := 0
	for _, size = range buckets {
		if dataFixed+len(body) <= size {
			break
		}
	}
	b := make([]byte, size)
	b[0] = typ
	binary.BigEndian.PutUint32(b[1:], uint32(len(body)))
	copy(b[dataFixed:], body)
	return b
}

// decodeData is strict. It accepts only what encodeData writes, including the
// choice of the bucket and each byte of the padding.
func decodeData(b []byte) (typ byte, body []byte, err error) {
	if !isBucket(len(b)) {
		return 0, nil, errFrame
	}
	typ = b[0]
	n := uint64(binary.BigEndian.Uint32(b[1:]))
	if typ < typeMsg || typ > typeFrag || n > uint64(len(b)-dataFixed) || !allZero(b[dataFixed+n:]) {
		return 0, nil, errFrame
	}
	body = b[dataFixed : dataFixed+n]
	if len(encodeData(typ, body)) != len(b) {
		return 0, nil, fmt.Errorf("%w: not the smallest bucket", errFrame)
	}
	return typ, body, nil
}

func encodeCtl(typ byte, wanted uint64) []byte {
	b := make([]byte, ctlPlainSize)
	b[0] = typ
	binary.BigEndian.PutUint64(b[1:], wanted)
	return b
}

func decodeCtl(b []byte) (typ byte, wanted uint64, err error) {
	if len(b) != ctlPlainSize || b[0] < typeAck || b[0] > typePong || !allZero(b[9:]) {
		return 0, 0, errFrame
	}
	return b[0], binary.BigEndian.Uint64(b[1:]), nil
}

func allZero(b []byte) bool {
	var or byte
	for _, c := range b {
		or |= c
	}
	return or == 0
}

// fragment is the body of a FRAG frame: one part of a long message.
type fragment struct {
	message uint32
	index   uint16
	count   uint16
	chunk   []byte
}

func (f fragment) encode() []byte {
	b := make([]byte, 0, fragFixed+len(f.chunk))
	b = binary.BigEndian.AppendUint32(b, f.message)
	b = binary.BigEndian.AppendUint16(b, f.index)
	b = binary.BigEndian.AppendUint16(b, f.count)
	return append(b, f.chunk...)
}

func decodeFragment(b []byte) (fragment, error) {
	if len(b) <= fragFixed {
		return fragment{}, errFrame
	}
	f := fragment{
		message: binary.BigEndian.Uint32(b),
		index:   binary.BigEndian.Uint16(b[4:]),
		count:   binary.BigEndian.Uint16(b[6:]),
		chunk:   b[fragFixed:],
	}
	if f.count < 2 || int(f.count) > maxFragments || f.index >= f.count {
		return fragment{}, errFrame
	}
	return f, nil
}

func resetFrame(t tag) []byte { return append([]byte{kindReset}, t[:]...) }

func parseReset(payload []byte) (tag, error) {
	if len(payload) != 1+len(tag{}) || payload[0] != kindReset {
		return tag{}, errFrame
	}
	return tag(payload[1:]), nil
}
