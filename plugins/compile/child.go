package compile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
)

// Compiling a third-party module is work that its author chose, and nothing in
// this process could end it. So the program starts itself again with childEnv
// set, and the initializer below compiles one module before main begins. A
// variable's initializer works in every program that links this package, tests
// and embedding programs included, without a setup call. Without the variable
// it does nothing.
const childEnv = "FOLKMOOT_COMPILE_POLICY"

var _ = runAsChild(os.Getenv(childEnv))

func runAsChild(value string) struct{} {
	if value == "1" {
		os.Exit(childMain(os.Stdin, os.Stdout))
	}
	return struct{}{}
}

// A job is the request to the child; the module's bytes follow.
type job struct {
	Where       string `json:"where"`
	Cache       string `json:"cache"` // for compiled code; empty: compile nothing
	CPUSeconds  uint64 `json:"cpu_seconds"`
	WallSeconds int64  `json:"wall_seconds"`
	MemoryBytes uint64 `json:"memory_bytes"`
	Size        int    `json:"size"`
}

// A report is the child's answer; the initial snapshot's bytes follow.
type report struct {
	Code  string `json:"code,omitempty"` // of a guest.Error
	What  string `json:"what,omitempty"`
	Fix   string `json:"fix,omitempty"`
	Entry string `json:"entry,omitempty"` // of the cache
	Image int    `json:"image,omitempty"` // bytes; 0: instances start from no snapshot
}

// reportMagic starts the report. Output of other initializers before it is
// skipped.
const reportMagic = "\x00moot policy report\x00"

// Exit codes of the child.
const (
	childFailed  = 3 // no request, or no one reads the report
	childTooSlow = 4 // its wall time is over
)

// childMain is the main function of the child. It returns the exit code.
func childMain(in io.Reader, out io.Writer) int {
	var j job
	module, err := readFrame(in, &j, func() int { return j.Size }, guest.MaxModule)
	if err != nil {
		return childFailed
	}
	time.AfterFunc(time.Duration(j.WallSeconds)*time.Second, func() { os.Exit(childTooSlow) })
	limitChild(j)
	if _, e := out.Write(encodeReport(j.run(module))); e != nil {
		return childFailed
	}
	return 0
}

// run validates, initializes and compiles the module. It returns the encoded
// initial snapshot and the entry of the cache.
func (j job) run(module []byte) (initial []byte, entry string, err error) {
	m, err := guest.Validate(j.Where, module)
	if err != nil {
		return nil, "", err
	}
	initial, err = pool.InitialSnapshot(j.Where, guest.Digest(module), m)
	if err != nil || j.Cache == "" {
		return initial, "", err
	}
	entry, err = compileEntry(context.Background(), j.Cache, j.Where, m)
	return initial, entry, err
}

func encodeReport(initial []byte, entry string, err error) []byte {
	r := report{Entry: entry, Image: len(initial)}
	var e *guest.Error
	switch {
	case errors.As(err, &e):
		r.Code, r.What, r.Fix = e.Code, e.What, e.Fix
	case err != nil:
		r.Code, r.What, r.Fix = guest.CodeCompile, "it could not be compiled: "+guest.Clip(err.Error()), "see that the cache can be written to"
	}
	if err != nil {
		initial, r.Image = nil, 0
	}
	return appendFrame([]byte(reportMagic), r, initial)
}

// appendFrame appends a frame: the length of a header, the header in JSON, and
// a body.
func appendFrame(b []byte, header any, body []byte) []byte {
	h, _ := json.Marshal(header) // has strings and numbers only
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h)))
	return append(append(b, h...), body...)
}

const maxHeader = 64 << 10 // bytes

var errFrame = errors.New("a damaged frame")

// readFrame reads a frame whose header says how long the body is, at most limit.
func readFrame(r io.Reader, header any, size func() int, limit int) ([]byte, error) {
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
