package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// screenshot saves a picture of what the tab shows if REPLAY_SHOTS names a folder.
func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("REPLAY_SHOTS")
	if dir == "" {
		return
	}
	var shot []byte
	b.run(t, chromedp.CaptureScreenshot(&shot))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), smaller(t, shot), 0o644); err != nil {
		t.Fatal(err)
	}
}

// smaller returns the picture with the 256 colours that are nearest to its own, which
// makes the file of a page about a third as large.
func smaller(t *testing.T, shot []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	with := image.NewPaletted(picture.Bounds(), commonColours(picture, 256))
	draw.Draw(with, with.Bounds(), picture, picture.Bounds().Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, with); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// commonColours returns the n most frequent colours, after their last three bits are
// left out. A page has few colours and many shades at the edges of its letters.
func commonColours(picture image.Image, n int) color.Palette {
	type cell struct{ count, r, g, b int }
	cells := map[[3]uint8]*cell{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
			key := [3]uint8{c.R >> 3, c.G >> 3, c.B >> 3}
			if cells[key] == nil {
				cells[key] = &cell{}
			}
			s := cells[key]
			s.count, s.r, s.g, s.b = s.count+1, s.r+int(c.R), s.g+int(c.G), s.b+int(c.B)
		}
	}
	var all []*cell
	for _, c := range cells {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *cell) int { return b.count - a.count })
	var p color.Palette
	for _, c := range all[:min(n, len(all))] {
		p = append(p, color.RGBA{uint8(c.r / c.count), uint8(c.g / c.count), uint8(c.b / c.count), 255})
	}
	return p
}
