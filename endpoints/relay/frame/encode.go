package frame

import (
	"encoding/binary"
	"encoding/json"
	"unicode"
	"unicode/utf8"
)

// Append appends the encoding of f to b. It refuses frames that Decode would
// refuse.
func Append(b []byte, f Frame) ([]byte, error) {
	return f.append(append(b, byte(f.kind())))
}

// Readdress turns a well-formed SEND into the RECV for its destination, in
// place. It returns the destination.
func Readdress(send []byte, from ID) (to ID) {
	to = ID(send[1:])
	send[0] = byte(KindRecv)
	copy(send[1:], from[:])
	return to
}

func (f Hello) append(b []byte) ([]byte, error) {
	if f.Version != Version {
		return nil, ErrVersion
	}
	if err := f.Limits.check(); err != nil {
		return nil, err
	}
	b = append(b, f.Version)
	b = append(b, f.Challenge[:]...)
	return appendJSON(b, f.Limits)
}

func (f Login) append(b []byte) ([]byte, error) {
	if len(f.Token) > MaxToken {
		return nil, errorf("a token over %d bytes", MaxToken)
	}
	b = append(b, f.Device[:]...)
	b = append(b, f.Signature[:]...)
	return append(b, f.Token...), nil
}

func (f Welcome) append(b []byte) ([]byte, error) {
	if err := f.Limits.check(); err != nil {
		return nil, err
	}
	return appendJSON(b, f)
}

func (f Reject) append(b []byte) ([]byte, error) {
	if !f.Code.known() {
		return nil, errorf("unknown code %d", uint16(f.Code))
	}
	b = binary.BigEndian.AppendUint16(b, uint16(f.Code))
	return binary.BigEndian.AppendUint32(b, f.RetryAfterMS), nil
}

func (f Send) append(b []byte) ([]byte, error) { return appendPayload(b, f.To, f.Payload) }

func (f Recv) append(b []byte) ([]byte, error) { return appendPayload(b, f.From, f.Payload) }

func appendPayload(b []byte, id ID, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, errorf("a payload over %d bytes", MaxPayload)
	}
	b = append(b, id[:]...)
	return append(b, payload...), nil
}

func (f Gone) append(b []byte) ([]byte, error) {
	if !f.Reason.known() {
		return nil, errorf("unknown reason %d", byte(f.Reason))
	}
	return append(append(b, f.To[:]...), byte(f.Reason)), nil
}

func (f Restart) append(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint32(b, f.ReconnectInMS)
	return binary.BigEndian.AppendUint32(b, f.TryForMS), nil
}

func (f Health) append(b []byte) ([]byte, error) {
	if err := checkText(f.Text); err != nil {
		return nil, err
	}
	return append(b, f.Text...), nil
}

// checkText refuses control characters in texts that people are shown.
func checkText(s string) error {
	if len(s) > MaxText || !utf8.ValidString(s) {
		return errorf("a text that is over %d bytes or not UTF-8", MaxText)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return errorf("a text with a character that is not printable")
		}
	}
	return nil
}

// maxLimit fits a 32-bit signed integer.
const maxLimit = 1<<31 - 1

func (l Limits) check() error {
	for _, n := range []int{l.MaxFrame, l.Queue, l.BytesPerSecond, l.Burst, l.FramesPerSecond, l.PingSeconds} {
		if n < 1 || n > maxLimit {
			return errorf("a limit out of bounds")
		}
	}
	if l.MaxFrame > MaxPayload {
		return errorf("a limit over %d bytes a payload", MaxPayload)
	}
	if l.Binding != "" && l.Binding != BindingExporter {
		return errorf("unknown binding")
	}
	return nil
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, errorf("%v", err) // impossible for these structs
	}
	return append(b, text...), nil
}
