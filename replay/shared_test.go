package replay

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
)

// sharedTalks reads a shared set of the neutral form.
func sharedTalks(t testing.TB, set string) iter.Seq2[Transcript, error] {
	name := filepath.Join("..", "..", "shared", "transcripts", set+".jsonl.gz")
	if set == "extract" {
		name = filepath.Join("testdata", "extract.jsonl")
	}
	if _, err := os.Stat(name); err != nil {
		t.Skip("the shared transcripts are not beside this checkout")
	}
	return func(yield func(Transcript, error) bool) {
		f, err := os.Open(name)
		if err != nil {
			yield(Transcript{}, err)
			return
		}
		defer f.Close()
		var in io.Reader = f
		if z, err := gzip.NewReader(f); err == nil {
			in = z
		} else if _, err := f.Seek(0, io.SeekStart); err != nil {
			yield(Transcript{}, err)
			return
		}
		for d := json.NewDecoder(in); ; {
			var c struct {
				ID           string
				Participants []Person
				Turns        []struct {
					Speaker, Text string
					Addressees    []string
				}
			}
			if err := d.Decode(&c); err == io.EOF {
				return
			} else if err != nil {
				yield(Transcript{}, err)
				return
			}
			talk := &Talk{ID: c.ID, Participants: c.Participants}
			for _, turn := range c.Turns {
				talk.Turns = append(talk.Turns, Turn{Speaker: turn.Speaker, Text: turn.Text, To: turn.Addressees})
			}
			if !yield(Transcript{Name: c.ID, Talk: talk}, nil) {
				return
			}
		}
	}
}
