package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// A state is one legal outcome of a power failure: the first base steps survive, but
// for some pages, which the disk has written earlier or later than the others.
type state struct {
	base  int
	pages []pageState
}

// A pageState is a page that is as it was after the first at steps. With sectors above 0
// this holds for so many sectors at its beginning, below 0 for those at its end.
type pageState struct {
	page
	at      int
	sectors int
}

// A page is a part of a file that a disk writes at once.
type page struct {
	file   *file
	number int64 // wholeFile is the file with its size
}

const wholeFile = -1

// text describes a state of d.
func (s state) text(d *Disk) string {
	text := fmt.Sprintf("the first %d of %d steps", s.base, len(d.steps))
	for _, p := range s.pages {
		name := "a file"
		for n, f := range d.current {
			if f == p.file {
				name = n
			}
		}
		if p.number == wholeFile {
			text += fmt.Sprintf(", %s as after %d", name, p.at)
			continue
		}
		text += fmt.Sprintf(", page %d of %s as after %d", p.number, name, p.at)
		if p.sectors > 0 {
			text += fmt.Sprintf(" in its first %d sectors", p.sectors)
		} else if p.sectors < 0 {
			text += fmt.Sprintf(" in its last %d sectors", -p.sectors)
		}
	}
	return text
}

// Images calls f with images of the folder that a power failure may leave now, until f has
// reported limit of them as new or there are no more. They are each prefix of the steps
// that are not durable, each prefix with up to three pages as they were earlier or later,
// those with pages that are torn between two sectors, and those with a file that is older
// or newer than the others. If there are more than limit, it takes all prefixes and a
// random choice of the rest. name describes an image.
func (d *Disk) Images(limit int, random *rand.Rand, f func(name string, image Image) (fresh bool)) {
	found := 0
	b := builder{d: d, images: map[int]Image{}, files: map[version][]byte{}}
	try := func(s state) (fresh bool) {
		if fresh = found < limit && f(s.text(d), b.build(s)); fresh {
			found++
		}
		return fresh
	}
	for base := range len(d.steps) + 1 {
		try(state{base: base})
	}
	pages := d.dirty()
	if len(pages) == 0 {
		return
	}
	all := d.systematic(pages, limit)
	random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, s := range all {
		if found >= limit {
			return
		}
		try(s)
	}
	for misses := 0; found < limit && misses < 50; misses++ {
		if try(d.draw(pages, random)) {
			misses = 0
		}
	}
}

// dirty returns the pages that steps have changed.
func (d *Disk) dirty() []page {
	var pages []page
	known := map[page]bool{}
	for _, s := range d.steps {
		if s.file == nil || s.cut {
			continue
		}
		for n := s.off / pageSize; n*pageSize < s.off+int64(len(s.data)); n++ {
			if p := (page{s.file, n}); !known[p] {
				known[p] = true
				pages = append(pages, p)
			}
		}
	}
	return pages
}

// systematic returns the states in which up to three pages survive alone, or are lost
// alone, and those with one torn page. It stops at four times limit, of which Images
// chooses.
func (d *Disk) systematic(pages []page, limit int) []state {
	var all []state
	last := len(d.steps)
	for _, base := range []int{0, last} {
		other := last - base
		for i, s := range d.steps {
			if s.file != nil {
				all = append(all, state{base, []pageState{{page{s.file, wholeFile}, i, 0}}})
			}
		}
		for i, p := range pages {
			for sectors := 1; sectors < pageSize/sectorSize; sectors++ {
				all = append(all, state{base, []pageState{{p, other, sectors}}}, state{base, []pageState{{p, other, -sectors}}})
			}
			all = append(all, state{base, []pageState{{p, other, 0}}})
			for k, q := range pages[i+1:] {
				all = append(all, state{base, []pageState{{p, other, 0}, {q, other, 0}}})
				for _, r := range pages[i+1+k+1:] {
					all = append(all, state{base, []pageState{{p, other, 0}, {q, other, 0}, {r, other, 0}}})
				}
				if len(all) > 4*limit {
					return all
				}
			}
		}
	}
	return all
}

// draw returns a random state.
func (d *Disk) draw(pages []page, random *rand.Rand) state {
	s := state{base: random.IntN(len(d.steps) + 1)}
	for _, i := range random.Perm(len(pages))[:min(len(pages), 1+random.IntN(3))] {
		p := pageState{page: pages[i], at: random.IntN(len(d.steps) + 1)}
		if random.IntN(2) == 0 {
			p.sectors = random.IntN(2*pageSize/sectorSize-1) - pageSize/sectorSize + 1
		}
		s.pages = append(s.pages, p)
	}
	return s
}

// A builder builds images of one moment, and keeps what many of them have in common.
type builder struct {
	d      *Disk
	images map[int]Image // after so many steps
	files  map[version][]byte
}

// A version is a file after so many steps.
type version struct {
	file *file
	at   int
}

// build returns the image of a state. A file that was cut between the two versions of
// a page keeps the one that it has: its blocks were given up.
func (b *builder) build(s state) Image {
	if b.images[s.base] == nil {
		b.images[s.base] = b.d.imageOf(b.d.steps[:s.base])
	}
	image := maps.Clone(b.images[s.base])
	for _, p := range s.pages {
		other := b.content(version{p.file, p.at})
		for name, content := range image {
			switch {
			case b.d.nameOf(name, s.base) != p.file:
			case p.number == wholeFile:
				image[name] = other
			case !p.cutBetween(b.d.steps, s.base, p.at):
				image[name] = p.onto(content, p.merge(content, other))
			}
		}
	}
	return image
}

func (b *builder) content(v version) []byte {
	content, ok := b.files[v]
	if !ok {
		content = v.file.image(only(v.file, b.d.steps[:v.at]))
		b.files[v] = content
	}
	return content
}

// nameOf returns the file of a name after some steps.
func (d *Disk) nameOf(name string, steps int) *file {
	f := d.names[name]
	for _, s := range d.steps[:steps] {
		for _, e := range s.entries {
			if e.name == name {
				f = e.file
			}
		}
	}
	return f
}

func only(f *file, steps []*step) []*step {
	return slices.DeleteFunc(slices.Clone(steps), func(s *step) bool { return s.file != f })
}

func (p page) cutBetween(steps []*step, a, b int) bool {
	return slices.ContainsFunc(steps[min(a, b):max(a, b)], func(s *step) bool { return s.file == p.file && s.cut })
}

// part returns the page in a content, with zeros behind its end, and how much of it
// the content has.
func (p page) part(content []byte) (b [pageSize]byte, n int64) {
	begin := min(p.number*pageSize, int64(len(content)))
	n = int64(copy(b[:], content[begin:]))
	return b, n
}

// merge returns the page of a content with sectors of another version.
func (p pageState) merge(mine, other []byte) []byte {
	a, n := p.part(mine)
	b, m := p.part(other)
	from, to := 0, pageSize
	if p.sectors > 0 {
		to = p.sectors * sectorSize
	} else if p.sectors < 0 {
		from = pageSize + p.sectors*sectorSize
	}
	copy(a[from:to], b[from:to])
	return a[:max(n, m)]
}

// onto replaces the page in a content, which grows if needed.
func (p page) onto(content, changed []byte) []byte {
	s := step{off: p.number * pageSize, data: changed}
	if len(changed) == 0 {
		return content
	}
	return s.apply(slices.Clone(content))
}
