package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A template is what the instances of a policy with certain settings are made
// from.
type template struct {
	key      string
	name     string
	codeKey  string
	code     *code
	settings []byte        // what configure gets
	most     int           // bytes of memory
	time     time.Duration // of the processor that one run may take; 0: no bound

	image  *image // nil: every decision sets a new instance up
	frozen *frozenMemory
}

// fits refuses a memory of more bytes than the policy may have.
func (t *template) fits(bytes int) error {
	if bytes <= t.most {
		return nil
	}
	return &Error{
		Code: CodeLimits, Where: t.name, What: fmt.Sprintf("needs %d pages of memory to start with; it may have %d", bytes>>16, t.most>>16),
		Fix: "allow it more memory",
	}
}

// newTemplate configures one instance of a module and freezes it.
func newTemplate(t template, fuel uint64) (*template, error) {
	if t.code.base == nil {
		in, err := t.instance() // to fail now rather than at a decision
		if err != nil {
			return nil, err
		}
		in.close()
		return &t, nil
	}
	if err := t.fits(int(t.code.metered.Pages) << 16); err != nil { // before that memory is there
		return nil, err
	}
	base, err := readImage(t.code.base, len(t.code.metered.Mutable))
	if err != nil {
		return nil, err
	}
	if err := t.fits(len(base.memory)); err != nil { // it may have grown since
		return nil, err
	}
	in, err := t.start(base, &memory{image: base.memory, buf: base.memory, most: t.most})
	if err != nil {
		return nil, err
	}
	in.begin(context.Background(), fuel, t.time)
	if err := in.configure(t.settings); err != nil {
		defer in.close()
		return nil, in.unready(t.name, fuel, err)
	}
	t.image = freeze(in, t.code.metered.Mutable)
	t.image.log = base.log + t.image.log
	t.frozen, err = newFrozenMemory(t.image.memory)
	t.image.memory = nil
	return &t, err
}

// unready is the error of an instance that could not be set up.
func (in *instance) unready(where string, fuel uint64, err error) *Error {
	e := in.failure(where, fuel, err)
	switch {
	case errors.Is(err, errRefusedSettings):
		e.Code, e.What, e.Fix = CodeConfigure, errRefusedSettings.Error(), "mend the settings"
		if line := lastLine(in.world.logged()); line != "" {
			e.What += ": " + line
		}
	default:
		e.Code, e.What = CodeInit, "it could not be set up: "+e.What
	}
	return e
}

// instance returns an instance that is ready for a decision.
func (t *template) instance() (*instance, error) {
	if t.image == nil {
		return t.setUp()
	}
	mem, err := t.frozen.instance(t.most)
	if err != nil {
		return nil, err
	}
	return t.start(t.image, mem)
}

// start makes an instance on a memory that holds an image.
func (t *template) start(im *image, mem *memory) (*instance, error) {
	w := &world{}
	w.begin(0, t.code.digest)
	in, err := newInstance(t.code.runtime, t.code.compiled, t.code.metered, mem, w)
	if err != nil {
		return nil, err
	}
	m := in.module.Memory()
	if missing := uint32(len(mem.image)) - m.Size(); missing > 0 {
		if _, ok := m.Grow(missing >> 16); !ok {
			in.close()
			return nil, fmt.Errorf("a memory of %d bytes does not grow to its image of %d", m.Size(), len(mem.image))
		}
	}
	for i, v := range im.globals {
		in.globals[i].Set(v)
	}
	return in, nil
}

// setUp makes an instance of a module that cannot start from an image.
func (t *template) setUp() (*instance, error) {
	w := &world{environ: initEnviron}
	w.begin(0, t.code.digest)
	in, err := newInstance(t.code.runtime, t.code.compiled, t.code.metered, &memory{most: t.most}, w)
	if err != nil {
		return nil, startFailure(t.name, err)
	}
	in.begin(context.Background(), setUpFuel, t.time)
	if err = in.initialize(); err == nil {
		err = in.configure(t.settings)
	}
	if err != nil {
		e := in.unready(t.name, setUpFuel, err)
		in.close()
		return nil, e
	}
	w.environ = nil
	return in, nil
}

// startFailure is the error of a module whose segments do not fit.
func startFailure(where string, err error) *Error {
	return &Error{
		Code: CodeInit, Where: where, What: "it could not be started: " + cause(err),
		Fix: "the policy's author has to mend it", Err: err,
	}
}

// rewind puts an instance back to the image of its template. After an error
// it must not be used again.
func (t *template) rewind(in *instance) error {
	if in.memory.outgrown() {
		return errOutgrown
	}
	for i, v := range t.image.globals {
		in.globals[i].Set(v)
	}
	clear(in.world.log)
	in.world.begin(0, t.code.digest)
	if err := in.memory.reset(); err != nil {
		return err
	}
	return in.shrink()
}

func (t *template) close() {
	if t.frozen != nil {
		t.frozen.close()
	}
}
