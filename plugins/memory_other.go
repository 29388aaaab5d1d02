//go:build !linux

package plugins

// A frozenMemory is an image's memory from which instances are made.
type frozenMemory struct {
	bytes []byte
	parts []part
}

func newFrozenMemory(b []byte) (*frozenMemory, error) {
	return &frozenMemory{b, appendParts(nil, b, 0, len(b))}, nil
}

func (f *frozenMemory) instance(most int) (*memory, error) {
	return newCopied(f.bytes, f.parts, most), nil
}

func (f *frozenMemory) close() {}

// A mapping is what Linux has; elsewhere the whole image is copied.
type mapping struct{ used bool }

func (mapping) release([]byte) bool             { return false }
func (mapping) watch()                          {}
func (mapping) unwatch()                        {}
func (mapping) ran()                            {}
func (mapping) restore(buf, image []byte) error { return nil }
