package crash_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/folkmoot/moot/test/faults/crash"
)

// TestParse reads the lines of a recording: calls that overlap, failed ones, and those of
// other folders.
func TestParse(t *testing.T) {
	const text = `7 openat(AT_FDCWD</home>, "\x2f\x64\x2f\x61", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 3<\x2f\x64\x2f\x61>
7 pwrite64(3<\x2f\x64\x2f\x61>, "\x68\x69", 2, 4096 <unfinished ...>
8 write(1<pipe:[5]>, "\x61\x63\x6b\x0a", 4) = 4
8 openat(AT_FDCWD</home>, "\x2f\x64\x2f\x6e\x6f", O_RDWR|O_CREAT, 0600) = -1 ENOSPC (No space left on device)
7 <... pwrite64 resumed>) = 2
7 fsync(3<\x2f\x64\x2f\x61>) = 0
8 pwrite64(4</elsewhere>, "\x68", 1, 0) = 1
8 write(5<\x2f\x64\x2f\x62>(deleted), "\x68", 1) = 1
7 rename("\x2f\x64\x2f\x61", "\x2f\x64\x2f\x62") = 0
7 fsync(6<\x2f\x64>) = 0
7 +++ exited with 0 +++
`
	got, err := crash.Parse(strings.NewReader(text), "/d")
	if err != nil {
		t.Fatal(err)
	}
	want := []crash.Call{
		{Kind: crash.Create, Path: "a", Off: -1, Start: 1, End: 1},
		{Kind: crash.Print, Data: []byte("ack\n"), Off: -1, Start: 3, End: 3},
		{Kind: crash.Write, Path: "a", Data: []byte("hi"), Off: 4096, Start: 2, End: 5},
		{Kind: crash.Sync, Path: "a", Off: -1, Start: 6, End: 6},
		{Kind: crash.Rename, Path: "a", To: "b", Off: -1, Start: 9, End: 9},
		{Kind: crash.Sync, Path: ".", Off: -1, Start: 10, End: 10},
	}
	if !slices.EqualFunc(got, want, func(a, b crash.Call) bool {
		return a.Kind == b.Kind && a.Path == b.Path && a.To == b.To && a.Off == b.Off && string(a.Data) == string(b.Data) && a.Start == b.Start && a.End == b.End
	}) {
		t.Errorf("got %+v", got)
	}
	if _, err := crash.Parse(strings.NewReader(`7 write(3</d/a>, "\x68"..., 99) = 99`+"\n"), "/d"); err == nil {
		t.Error("a text that strace has cut is accepted")
	}
}

// images returns the images of a disk as texts: a letter for each page that is not
// zeros, per file.
func images(d *crash.Disk) []string {
	found := map[string]bool{}
	d.Images(100_000, rand.New(rand.NewPCG(1, 1)), func(_ string, image crash.Image) bool {
		text := ""
		for _, name := range slices.Sorted(maps.Keys(image)) {
			text += name + "="
			for sector := range slices.Chunk(image[name], 512) {
				text += strings.ReplaceAll(string(sector[:1]), "\x00", "0")
			}
			text += " "
		}
		fresh := !found[text]
		found[text] = true
		return fresh
	})
	return slices.Sorted(maps.Keys(found))
}

// TestImages compares the images of small recordings with those that are legal.
func TestImages(t *testing.T) {
	line := 0
	call := func(kind crash.Kind, path, to string, off int64, data string) crash.Call {
		line++
		return crash.Call{Kind: kind, Path: path, To: to, Off: off, Data: []byte(data), Start: line, End: line}
	}
	sectors := func(letter string, n int) string { return strings.Repeat(letter, 512*n) }
	d := crash.NewDisk()
	d.Begin(call(crash.Create, "f", "", -1, ""))
	check := func(what string, want ...string) {
		t.Helper()
		if got := images(d); !slices.Equal(got, want) {
			t.Errorf("%s: images are %q, want %q", what, got, want)
		}
	}
	check("made", "", "f= ")
	d.Synced(call(crash.Sync, ".", "", -1, ""))
	check("folder synced", "f= ")
	d.Begin(call(crash.Write, "f", "", 0, sectors("a", 2)))
	check("written", "f= ", "f=00 ", "f=0a ", "f=a0 ", "f=aa ")
	d.Synced(call(crash.Sync, "f", "", -1, ""))
	check("synced", "f=aa ")
	overlapping := call(crash.Sync, "f", "", -1, "")
	d.Begin(call(crash.Write, "f", "", 512, sectors("b", 1)))
	d.Synced(overlapping)
	check("written during a sync", "f=aa ", "f=ab ")
	d.Begin(call(crash.Truncate, "f", "", 512, ""))
	check("cut", "f=a ", "f=aa ", "f=ab ")
	d.Synced(call(crash.Sync, "f", "", -1, ""))
	d.Begin(call(crash.Create, "g", "", -1, ""))
	d.Begin(call(crash.Write, "g", "", -1, sectors("c", 1)))
	d.Begin(call(crash.Rename, "g", "f", -1, ""))
	check("replaced without a sync", "f= ", "f=0 ", "f=a ", "f=a g= ", "f=a g=0 ", "f=a g=c ", "f=c ")
}
