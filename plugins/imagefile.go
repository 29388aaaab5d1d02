package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// An image's form on disk, and on its way from the process that made it:
// magic, SHA-256 of what follows, then numbers of four and eight bytes, little
// end first. Memory is a list of runs of pages that hold anything but zeros.
const imageMagic = "moot policy image 1\n"

var errImage = errors.New("a damaged image")

// append appends the image's form.
func (im *image) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, imageMagic...)
	dst = append(dst, make([]byte, sha256.Size)...)
	body := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(im.log)))
	dst = append(dst, im.log...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(im.globals)))
	for _, g := range im.globals {
		dst = binary.LittleEndian.AppendUint64(dst, g)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(im.memory)))
	_ = runs(im.memory, func(from, to int) error {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(from))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
		dst = append(dst, im.memory[from:to]...)
		return nil
	})
	sum := sha256.Sum256(dst[body:])
	copy(dst[start+len(imageMagic):], sum[:])
	return dst
}

// readImage reads a form for a module with so many mutable globals.
func readImage(b []byte, globals int) (*image, error) {
	b, ok := bytes.CutPrefix(b, []byte(imageMagic))
	if !ok || len(b) < sha256.Size {
		return nil, errImage
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil, errImage
	}
	r := imageReader{b: b[sha256.Size:]}
	im := &image{log: string(r.take(r.u32(), maxLog))}
	if n := r.u32(); int64(n) != int64(globals) {
		return nil, errImage
	}
	for range globals {
		im.globals = append(im.globals, r.u64())
	}
	size := r.u32()
	if size > MaxMemoryPages<<16 || size%(1<<16) != 0 {
		return nil, errImage
	}
	im.memory = make([]byte, size)
	for !r.bad && len(r.b) > 0 {
		at, n := r.u32(), r.u32()
		run := r.take(n, int(size))
		if uint64(at)+uint64(n) > uint64(size) {
			return nil, errImage
		}
		copy(im.memory[at:], run)
	}
	if r.bad {
		return nil, errImage
	}
	return im, nil
}

type imageReader struct {
	b   []byte
	bad bool
}

func (r *imageReader) take(n uint32, most int) []byte {
	if int64(n) > int64(len(r.b)) || int64(n) > int64(most) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *imageReader) u32() uint32 {
	if b := r.take(4, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *imageReader) u64() uint64 {
	if b := r.take(8, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// imagePath is where the initial image of a rewritten module is kept.
func imagePath(cache string, rewritten []byte) string {
	return filepath.Join(cache, "images", digestOf(rewritten))
}

// keep writes b to path whole or not at all.
func keep(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keeping %s: %w", path, err)
	}
	return nil
}
