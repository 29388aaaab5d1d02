package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/folkmoot/moot/internal/worker"
	"github.com/folkmoot/moot/plugins/guest"
	"github.com/folkmoot/moot/plugins/pool"
)

// Limits of the worker process that compiles a module.
const (
	DefCPUTime   = 20 * time.Second // of the processor; a Go module of 3.3 MB takes 4 s
	maxWorkerMem = 512 << 20        // bytes; the same module takes 200 MiB
)

// A job is the request to the worker; the module's bytes follow.
type job struct {
	Where  string `json:"where"`
	Folder string `json:"folder"` // an empty one to compile in; "": compile nothing
	Size   int    `json:"size"`
}

// A report is the worker's answer; the initial snapshot's bytes follow.
type report struct {
	Code     string `json:"code,omitempty"` // of a guest.Error
	What     string `json:"what,omitempty"`
	Fix      string `json:"fix,omitempty"`
	Metered  string `json:"metered,omitempty"`
	Name     string `json:"name,omitempty"`     // of the code in the folder
	Snapshot int    `json:"snapshot,omitempty"` // bytes; 0: instances start from no snapshot
}

const workName = "policy"

var _ = worker.Serve(workName, serveJob)

func serveJob(request io.Reader, reply io.Writer) error {
	var j job
	module, err := worker.ReadFrame(request, &j, func() int { return j.Size }, guest.MaxModule)
	if err != nil {
		return err
	}
	_, err = reply.Write(encodeReport(j.run(module)))
	return err
}

// run validates, initializes and compiles the module. It returns the encoded
// initial snapshot.
func (j job) run(module []byte) (r report, initial []byte, err error) {
	m, err := guest.Validate(j.Where, module)
	if err != nil {
		return r, nil, err
	}
	r.Metered = guest.Digest(m.Whole)
	initial, err = pool.InitialSnapshot(j.Where, guest.Digest(module), m)
	if err != nil || j.Folder == "" {
		return r, initial, err
	}
	code, name, err := compileIn(context.Background(), j.Folder, j.Where, m)
	if err != nil {
		return r, nil, err
	}
	r.Name = name
	return r, initial, code.Close()
}

func encodeReport(r report, initial []byte, err error) []byte {
	var e *guest.Error
	switch {
	case errors.As(err, &e):
		r = report{Code: e.Code, What: e.What, Fix: e.Fix}
	case err != nil:
		r = report{Code: guest.CodeCompile, What: "it could not be compiled: " + guest.Clip(err.Error()), Fix: "see that the disk is not full"}
	}
	if err != nil {
		initial = nil
	}
	r.Snapshot = len(initial)
	return worker.AppendFrame(nil, r, initial)
}

func (c *Compiler) limits() worker.Limits {
	return worker.Limits{CPU: c.config.CPUTime, Memory: maxWorkerMem, File: maxCode}
}

// compileInWorker prepares a module in a worker process.
func (c *Compiler) compileInWorker(ctx context.Context, where string, module []byte) (*entry, error) {
	j := job{Where: where, Size: len(module)}
	if c.engine == guest.EngineCompiler {
		folder, err := c.cache.workFolder()
		if err != nil {
			return nil, noSpace(where, err)
		}
		defer os.RemoveAll(folder)
		j.Folder = folder
	}
	reply, err := worker.Run(ctx, worker.Work{
		Name: workName, Request: worker.AppendFrame(nil, j, module), Limits: c.limits(), MaxReply: maxSnapshot,
	})
	if err != nil {
		return nil, workerError(ctx, where, c.limits(), err)
	}
	r, initial, err := readReport(where, reply)
	if err != nil {
		return nil, err
	}
	e := &entry{entryHeader: entryHeader{Metered: r.Metered}, snapshot: initial}
	if j.Folder == "" {
		return e, nil
	}
	e.Name = r.Name
	if e.code, err = readCode(j.Folder, r.Name); err != nil {
		return nil, &guest.Error{Code: guest.CodeCompile, Where: where, What: "the compiled code cannot be read: " + guest.Clip(err.Error()), Fix: "build a smaller module", Err: err}
	}
	return e, nil
}

func noSpace(where string, err error) error {
	return &guest.Error{
		Code: guest.CodeCache, Where: where, What: "there is no folder to compile it in: " + guest.Clip(err.Error()),
		Fix: "free space in the folder for temporary files, or name a cache", Err: err,
	}
}

// workerError says why a worker process gave no report.
func workerError(ctx context.Context, where string, l worker.Limits, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &guest.Error{Code: guest.CodeCompile, Where: where, Fix: "build a smaller module", Err: err}
	switch {
	case errors.Is(err, worker.ErrNoProcess):
		e.Code, e.What = guest.CodeUntrusted, "a process to compile it in cannot be started: "+guest.Clip(err.Error())
		e.Fix = "use a built-in policy, or let this program start processes"
	case errors.Is(err, worker.ErrOutOfMemory):
		e.What = fmt.Sprintf("compiling it takes more than %d MiB of memory", l.Memory>>20)
	case errors.Is(err, worker.ErrTooSlow):
		e.What = fmt.Sprintf("compiling it takes more than %d s of the processor", int(l.CPU.Seconds()))
	case errors.Is(err, worker.ErrIdle):
		e.What, e.Fix = fmt.Sprintf("the process that compiles it stood still for %d s", int(worker.DefIdle.Seconds())), "try again; if it stands still again, report it, with the module"
	default:
		e.What, e.Fix = "the process that compiles it failed: "+guest.Clip(err.Error()), "report it, with the module"
	}
	return e
}

func readReport(where string, reply []byte) (report, []byte, error) {
	var r report
	initial, err := worker.ReadFrame(bytes.NewReader(reply), &r, func() int { return r.Snapshot }, len(reply))
	switch {
	case err != nil:
		return r, nil, &guest.Error{Code: guest.CodeCompile, Where: where, What: "the process that compiles it gave no report", Fix: "report it, with the module", Err: err}
	case r.Code != "":
		return r, nil, &guest.Error{Code: r.Code, Where: where, What: r.What, Fix: r.Fix}
	case len(initial) == 0:
		initial = nil
	}
	return r, initial, nil
}
