package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
)

// maxHeader bounds the header of a frame, in bytes.
const maxHeader = 64 << 10

var errFrame = errors.New("a damaged frame")

// AppendFrame appends a frame: the length of a header, the header in JSON, and
// the body. The header has strings and numbers only.
func AppendFrame(b []byte, header any, body ...[]byte) []byte {
	h, _ := json.Marshal(header)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h)))
	b = append(b, h...)
	for _, part := range body {
		b = append(b, part...)
	}
	return b
}

// ReadFrame reads a frame. size says, once the header is read, how long the
// body is: at most limit bytes.
func ReadFrame(r io.Reader, header any, size func() int, limit int) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return nil, errFrame
	}
	h := make([]byte, n)
	if _, err := io.ReadFull(r, h); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(h, header); err != nil {
		return nil, err
	}
	if size() < 0 || size() > limit {
		return nil, errFrame
	}
	body := make([]byte, size())
	_, err := io.ReadFull(r, body)
	return body, err
}
