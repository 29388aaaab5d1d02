package audit

import "strconv"

// appendLine appends an event as a line of JSON, as encoding/json writes it. Each turn of
// a room waits for two events, and package encoding/json takes four times as long. The texts of
// e are clean: they have no control characters, and are valid UTF-8.
func appendLine(b []byte, e *Event) ([]byte, error) {
	b = append(b, `{"time":"`...)
	b, err := e.Time.AppendText(b)
	if err != nil {
		return nil, err
	}
	b = append(b, '"')
	b = appendText(b, "profile", e.Profile)
	b = appendText(b, "device", e.Device)
	b = appendText(b, "requester", e.Requester)
	b = appendText(b, "room", e.Room)
	if e.Turn != 0 {
		b = appendNumber(b, "turn", int64(e.Turn))
	}
	b = appendText(b, "mode", e.Mode)
	b = append(b, `,"status":`...)
	b = appendQuoted(b, e.Status)
	b = appendText(b, "reason", e.Reason)
	b = appendNumber(b, "ms", e.MS)
	if e.Count != 0 {
		b = appendNumber(b, "count", int64(e.Count))
	}
	return append(b, "}\n"...), nil
}

// appendText appends a member with a text, unless that is empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendQuoted(appendName(b, name), text)
}

func appendNumber(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(appendName(b, name), n, 10)
}

func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
