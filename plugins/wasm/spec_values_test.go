package wasm

import (
	"math"
	"strconv"
	"strings"
)

type specFile struct {
	Commands []specCommand `json:"commands"`
}

type specCommand struct {
	Type       string `json:"type"`
	Line       int    `json:"line"`
	Name       string `json:"name"`
	As         string `json:"as"`
	Filename   string `json:"filename"`
	ModuleType string `json:"module_type"`
	Action     struct {
		Type   string      `json:"type"`
		Module string      `json:"module"`
		Field  string      `json:"field"`
		Args   []specValue `json:"args"`
	} `json:"action"`
}

type specValue struct {
	Type  string `json:"type"`
	Lane  string `json:"lane_type"`
	Value any    `json:"value"`
}

// words returns the value as the engine passes it.
func (v specValue) words() []uint64 {
	if v.Type != "v128" {
		return []uint64{v.word(v.Value, v.Type)}
	}
	lanes := v.Value.([]any)
	width := 128 / len(lanes)
	var w [2]uint64
	for i, l := range lanes {
		bits := v.word(l, v.Lane)
		if width < 64 {
			bits &= 1<<width - 1
		}
		at := i * width
		w[at/64] |= bits << (at % 64)
	}
	return w[:]
}

func (v specValue) word(value any, typ string) uint64 {
	s, _ := value.(string)
	switch {
	case s == "null" || s == "":
		return 0
	case strings.HasPrefix(s, "nan"):
		if typ == "f32" {
			return 0x7fc00000
		}
		return 0x7ff8000000000000
	case strings.HasPrefix(s, "-"):
		n, _ := strconv.ParseInt(s, 10, 64)
		return uint64(n)
	}
	n, _ := strconv.ParseUint(s, 10, 64)
	if typ == "externref" {
		n++ // wazero takes 0 for null
	}
	return n
}

// sameWords compares results, in which one NaN is as good as another: the
// specification leaves their bits open, and wazero's engines differ in them
// (f32.json:404). The rewritten module must not.
func sameWords(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !bothNaN64(a[i], b[i]) && !bothNaN32(a[i], b[i]) {
			return false
		}
	}
	return true
}

func bothNaN64(a, b uint64) bool {
	return math.IsNaN(math.Float64frombits(a)) && math.IsNaN(math.Float64frombits(b))
}

// bothNaN32 compares two lanes.
func bothNaN32(a, b uint64) bool {
	for shift := 0; shift < 64; shift += 32 {
		x, y := math.Float32frombits(uint32(a>>shift)), math.Float32frombits(uint32(b>>shift))
		if uint32(a>>shift) != uint32(b>>shift) && !(x != x && y != y) {
			return false
		}
	}
	return true
}
