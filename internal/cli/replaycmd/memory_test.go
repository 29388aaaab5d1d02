package replaycmd

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/replay"
	"github.com/folkmoot/moot/replay/drive"
	"github.com/folkmoot/moot/replay/history"
)

// talkSize is about the size of a conversation of writeTalks, in bytes.
const talkSize = 40 * 2000

// writeTalks writes a file of n conversations.
func writeTalks(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "talks.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	people := []string{"ann", "bob", "cid"}
	for i := range n {
		fmt.Fprintf(w, `{"id":"talk/%d","participants":[{"id":"ann","kind":"agent"},{"id":"bob","kind":"agent"},{"id":"cid","kind":"agent"}],"turns":[`, i)
		for turn := range 40 {
			fmt.Fprintf(w, `{"i":%d,"speaker":%q,"text":%q},`, turn, people[(turn+turn/3)%3], strings.Repeat("word ", 399)+fmt.Sprint(i))
		}
		fmt.Fprintln(w, `{"i":40,"speaker":"ann","text":"end"}]}`)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// peakHeap replays a file of n conversations and returns the largest heap, after
// collections, as conversations are read.
func peakHeap(t *testing.T, n int) (peak uint64) {
	a := &app.App{Stdin: strings.NewReader("")}
	cmd := Command(a)
	src, err := (&source.Reading{}).Sources(a, cmd, []string{writeTalks(t, n)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	read := 0
	counted := func(yield func(history.Transcript, error) bool) {
		for x, err := range replayable(t.Context(), src, nil) {
			if read++; read%10 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			if !yield(x, err) {
				return
			}
		}
	}
	c := replay.Config{Workers: 2, Resamples: 1, Policies: []drive.Policy{{Name: "ngram3", Baseline: "ngram3"}}}
	r, err := replay.Run(t.Context(), c, counted)
	if err != nil || r.Conversations != n {
		t.Fatalf("%d conversations, %v", read, err)
	}
	return peak
}

// TestManyTranscripts: the memory of a replay does not grow with the number of its
// transcripts but for their sums.
func TestManyTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("replays many transcripts")
	}
	const n = 60
	few, many := peakHeap(t, n), peakHeap(t, 4*n)
	if grown := int64(many) - int64(few); grown > 3*n*talkSize/4 {
		t.Errorf("%d transcripts need %d KiB, %d of them %d KiB", n, few>>10, 4*n, many>>10)
	}
	t.Logf("%d transcripts: %d KiB, %d: %d KiB", n, few>>10, 4*n, many>>10)
}
