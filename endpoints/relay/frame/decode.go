package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// Decode decodes one frame. Payloads and tokens alias b. Errors wrap ErrFrame
// or ErrVersion.
func Decode(b []byte) (Frame, error) {
	if len(b) == 0 {
		return nil, errorf("empty")
	}
	if len(b) > MaxFrame {
		return nil, errorf("over %d bytes", MaxFrame)
	}
	f, err := decodeBody(Kind(b[0]), b[1:])
	if err != nil {
		return nil, err
	}
	return f, nil
}

// IsSend reports whether b is a well-formed SEND, without decoding it.
func IsSend(b []byte) bool {
	return len(b) > idSize && len(b) <= MaxFrame && Kind(b[0]) == KindSend
}

func decodeBody(k Kind, body []byte) (Frame, error) {
	switch k {
	case KindHello:
		return decodeHello(body)
	case KindLogin:
		return decodeLogin(body)
	case KindWelcome:
		return decodeWelcome(body)
	case KindReject:
		return decodeReject(body)
	case KindSend:
		id, payload, err := decodePayload(body)
		return Send{id, payload}, err
	case KindRecv:
		id, payload, err := decodePayload(body)
		return Recv{id, payload}, err
	case KindGone:
		return decodeGone(body)
	case KindRestart:
		return decodeRestart(body)
	case KindHealth:
		return Health{string(body)}, checkText(string(body))
	}
	return nil, errorf("unknown kind 0x%02x", byte(k))
}

func decodeHello(b []byte) (Frame, error) {
	if len(b) < 1+challengeSize {
		return nil, errorf("HELLO of %d bytes", len(b))
	}
	if b[0] != Version {
		return nil, ErrVersion // the rest has an unknown format
	}
	f := Hello{Version: b[0], Challenge: [challengeSize]byte(b[1:])}
	if err := decodeJSON(b[1+challengeSize:], &f.Limits); err != nil {
		return nil, err
	}
	return f, f.Limits.check()
}

func decodeLogin(b []byte) (Frame, error) {
	const fixed = idSize + signatureSize
	if len(b) < fixed || len(b) > fixed+MaxToken {
		return nil, errorf("LOGIN of %d bytes", len(b))
	}
	return Login{ID(b), [signatureSize]byte(b[idSize:]), b[fixed:]}, nil
}

func decodeWelcome(b []byte) (Frame, error) {
	var f Welcome
	if err := decodeJSON(b, &f); err != nil {
		return nil, err
	}
	return f, f.Limits.check()
}

func decodeReject(b []byte) (Frame, error) {
	if len(b) != 6 {
		return nil, errorf("REJECT of %d bytes", len(b))
	}
	f := Reject{RejectCode(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])}
	if !f.Code.known() {
		return nil, errorf("unknown code %d", uint16(f.Code))
	}
	return f, nil
}

func decodePayload(b []byte) (ID, []byte, error) {
	if len(b) < idSize {
		return ID{}, nil, errorf("a payload without an address")
	}
	return ID(b), b[idSize:], nil // Decode has checked the length
}

func decodeGone(b []byte) (Frame, error) {
	if len(b) != idSize+1 {
		return nil, errorf("GONE of %d bytes", len(b))
	}
	f := Gone{ID(b), GoneReason(b[idSize])}
	if !f.Reason.known() {
		return nil, errorf("unknown reason %d", byte(f.Reason))
	}
	return f, nil
}

func decodeRestart(b []byte) (Frame, error) {
	if len(b) != 8 {
		return nil, errorf("RESTART of %d bytes", len(b))
	}
	return Restart{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}, nil
}

// decodeJSON accepts only the text that appendJSON writes. So it refuses
// unknown, repeated and wrong-case keys.
func decodeJSON(b []byte, v any) error {
	if len(b) > maxJSON {
		return errorf("JSON over %d bytes", maxJSON)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return errorf("no JSON of the right form")
	}
	again, err := appendJSON(nil, v)
	if err != nil || !bytes.Equal(b, again) {
		return errorf("JSON that is not written as the protocol has it")
	}
	return nil
}
