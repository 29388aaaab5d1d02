package crash

import (
	"maps"
	"path"
	"slices"
)

// Sizes in bytes of what a disk writes: pages in any order, sectors whole.
const (
	pageSize   = 4096
	sectorSize = 512
)

// A file is the content of a file, under all its names.
type file struct {
	durable []byte // what survives
	pending []*step
}

// An entry is a change of names that is not durable yet: name gets file, or loses
// its own if file is nil. A rename is two changes, of which disks keep both or none.
type entry struct {
	name string
	file *file
}

// A step is a change of the disk that is not durable yet, of a file or of names.
type step struct {
	file    *file
	off     int64
	data    []byte
	cut     bool // to off bytes
	folder  string
	entries []entry
	end     int // line at which the call returned
}

// A Disk is what a recording has changed up to some call.
type Disk struct {
	names   map[string]*file // that survive
	current map[string]*file // that the process sees
	steps   []*step          // that may survive, in order
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*file{}, current: map[string]*file{}}
}

// Begin applies the start of a call: from here on its change may survive.
func (d *Disk) Begin(c Call) {
	f := d.current[c.Path]
	switch c.Kind {
	case Write:
		if f == nil {
			f = d.create(c)
		}
		off := c.Off
		if off < 0 {
			off = int64(len(f.image(f.pending)))
		}
		d.change(f, &step{file: f, off: off, data: c.Data, end: c.End})
	case Truncate:
		if f == nil {
			f = d.create(c)
		}
		if int64(len(f.image(f.pending))) != c.Off {
			d.change(f, &step{file: f, off: c.Off, cut: true, end: c.End})
		}
	case Create:
		if f == nil {
			d.create(c)
		}
	case Link:
		d.rename(c, entry{c.To, f})
	case Rename:
		d.rename(c, entry{c.To, f}, entry{c.Path, nil})
	case Unlink:
		d.rename(c, entry{c.Path, nil})
	}
}

func (d *Disk) create(c Call) *file {
	f := &file{}
	d.rename(c, entry{c.Path, f})
	return f
}

func (d *Disk) change(f *file, s *step) {
	f.pending = append(f.pending, s)
	d.steps = append(d.steps, s)
}

func (d *Disk) rename(c Call, entries ...entry) {
	apply(d.current, entries)
	d.steps = append(d.steps, &step{folder: path.Dir(c.Path), entries: entries, end: c.End})
}

func apply(names map[string]*file, entries []entry) {
	for _, e := range entries {
		if e.file == nil {
			delete(names, e.name)
		} else {
			names[e.name] = e.file
		}
	}
}

// Synced applies the end of a sync that began at line start: what had returned by then
// is durable. The sync of a folder keeps its names, that of a file its content.
func (d *Disk) Synced(c Call) {
	f := d.current[c.Path]
	done := func(s *step) bool {
		return s.end < c.Start && (s.file != nil && s.file == f || s.file == nil && s.folder == c.Path)
	}
	for _, s := range d.steps {
		if done(s) && s.file == nil {
			apply(d.names, s.entries)
		}
	}
	if f != nil {
		kept := 0
		for kept < len(f.pending) && done(f.pending[kept]) {
			kept++
		}
		f.durable, f.pending = f.image(f.pending[:kept]), slices.Clone(f.pending[kept:])
	}
	d.steps = slices.DeleteFunc(slices.Clone(d.steps), done)
}

// image returns the content of a file with some of its pending changes. It may share
// memory with the file when there are none.
func (f *file) image(steps []*step) []byte {
	if len(steps) == 0 {
		return f.durable
	}
	b := slices.Clone(f.durable)
	for _, s := range steps {
		b = s.apply(b)
	}
	return b
}

func (s *step) apply(b []byte) []byte {
	end := s.off + int64(len(s.data))
	if s.cut && end < int64(len(b)) {
		return b[:end:end]
	}
	if end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[s.off:], s.data)
	return b
}

// An Image is the content of a folder, by name.
type Image map[string][]byte

// imageOf returns the folder after some steps, in order.
func (d *Disk) imageOf(steps []*step) Image {
	names := maps.Clone(d.names)
	changes := map[*file][]*step{}
	for _, s := range steps {
		if s.file == nil {
			apply(names, s.entries)
		} else {
			changes[s.file] = append(changes[s.file], s)
		}
	}
	out := Image{}
	for name, f := range names {
		out[name] = f.image(changes[f])
	}
	return out
}
