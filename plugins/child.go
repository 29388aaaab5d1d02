package plugins

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"
)

// Compiling a module that nobody vouches for is work that its author chose,
// and that nothing in this process could end. So the program starts itself
// once more, with childEnv set. The initialiser below then compiles one module
// instead of letting main begin. It is a variable's initialiser because that
// alone works in every program that links this package, tests included,
// without a call that somebody could forget; without the variable in the
// environment it does nothing.
const childEnv = "FOLKMOOT_COMPILE_POLICY"

var _ = childStarted(os.Getenv(childEnv))

func childStarted(asked string) struct{} {
	if asked == "1" {
		os.Exit(compileChild(os.Stdin, os.Stdout))
	}
	return struct{}{}
}

// A job is what the child is asked to do; the module's bytes follow.
type job struct {
	Where       string `json:"where"`
	Cache       string `json:"cache"` // for compiled code; empty: nothing is compiled
	CPUSeconds  uint64 `json:"cpu_seconds"`
	WallSeconds int64  `json:"wall_seconds"`
	MemoryBytes uint64 `json:"memory_bytes"`
	Size        int    `json:"size"`
	Workers     int    `json:"workers"`
}

// A report is what it answers; the image's bytes follow.
type report struct {
	Code  string `json:"code,omitempty"` // of an Error
	What  string `json:"what,omitempty"`
	Fix   string `json:"fix,omitempty"`
	Entry string `json:"entry,omitempty"` // of the cache
	Image int    `json:"image,omitempty"` // bytes; 0: instances start from no image
}

// childMagic starts the report: what else an initialiser printed before is
// passed over.
const childMagic = "\x00moot policy report\x00"

// compileChild is the main function of the child.
func compileChild(in io.Reader, out io.Writer) (status int) {
	var j job
	module, err := readFrame(in, &j, func() int { return j.Size }, MaxModule)
	if err != nil {
		return 3
	}
	time.AfterFunc(time.Duration(j.WallSeconds)*time.Second, func() { os.Exit(childTooSlow) })
	limitChild(j)
	if _, e := out.Write(reportOf(prepare(j, module))); e != nil {
		return 3
	}
	return 0
}

// childTooSlow is the child's status when its time is over.
const childTooSlow = 4

// prepare does the work: check, initialise, compile into the cache.
func prepare(j job, module []byte) (form []byte, entry string, err error) {
	m, err := check(j.Where, module)
	if err != nil {
		return nil, "", err
	}
	form, err = initialImage(j.Where, digestOf(module), m)
	if err != nil || j.Cache == "" {
		return form, "", err
	}
	entry, err = compileInto(j.Cache, j.Where, m, j.Workers)
	return form, entry, err
}

func reportOf(form []byte, entry string, err error) []byte {
	r := report{Entry: entry, Image: len(form)}
	var e *Error
	switch {
	case errors.As(err, &e):
		r.Code, r.What, r.Fix = e.Code, e.What, e.Fix
	case err != nil:
		r.Code, r.What, r.Fix = CodeCompile, "it could not be compiled: "+clip(err.Error()), "see that the cache can be written to"
	}
	if err != nil {
		form, r.Image = nil, 0
	}
	return append([]byte(childMagic), frame(r, form)...)
}

// frame is a header in JSON with its length, and what follows it.
func frame(header any, body []byte) []byte {
	h, _ := json.Marshal(header) // of strings and numbers only
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(h)))
	return append(append(b, h...), body...)
}

const mostHeader = 64 << 10

// readFrame reads a frame whose header says how long the body is.
func readFrame(r io.Reader, header any, size func() int, most int) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > mostHeader {
		return nil, errImage
	}
	h := make([]byte, n)
	if _, err := io.ReadFull(r, h); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(h, header); err != nil {
		return nil, err
	}
	if size() < 0 || size() > most {
		return nil, errImage
	}
	body := make([]byte, size())
	_, err := io.ReadFull(r, body)
	return body, err
}
