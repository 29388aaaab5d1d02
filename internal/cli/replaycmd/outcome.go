package replaycmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/cli/source"
	"github.com/folkmoot/moot/internal/condition"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/replay/history"
	reports "github.com/folkmoot/moot/replay/report"
	"github.com/folkmoot/moot/replay/score"
	"github.com/folkmoot/moot/transcripts"
)

// defaultOutcome is the field of a file of ratings, if --outcome names none.
const defaultOutcome = "rating"

var comparison = regexp.MustCompile(`^(.*?)\s*((?:<=|>=|==|!=|<|>)\s*-?[0-9.]+%?)$`)

// parseOutcome reads "FIELD" or "FIELD OP NUMBER".
func parseOutcome(text string) (*score.OutcomeField, error) {
	text = strings.TrimSpace(text)
	m := comparison.FindStringSubmatch(text)
	if m == nil {
		return &score.OutcomeField{Name: text, Text: text}, nil
	}
	c, ok := condition.Parse("x " + m[2])
	if !ok || m[1] == "" {
		return nil, &problem.Error{
			Code: "REPLAY-OUTCOME", What: "the outcome " + text + " has another form", Fix: "write a field, such as is_correct, or a condition, such as 'rating >= 4'",
		}
	}
	return &score.OutcomeField{Name: m[1], Text: text, Success: c.Holds}, nil
}

// ratings are fields of transcripts by their names, from a file.
type ratings struct {
	fields map[string]map[string]float64
	found  map[string]bool // transcripts of fields that were replayed
}

// read reads a file of ratings: JSON lines or CSV with a header. Its column transcript has
// the names of the transcripts; the others are fields.
func (r *ratings) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &problem.Error{Code: "REPLAY-OUTCOME", What: "the ratings cannot be read", Where: file, Err: err, Fix: "give a file that can be read"}
	}
	read := r.csv
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		read = r.lines
	}
	if what := read(text); what != "" {
		return &problem.Error{
			Code: "REPLAY-OUTCOME", What: what, Where: file,
			Fix: `write JSON lines such as {"transcript":"r_01","rating":4}, or CSV with the header transcript,rating`,
		}
	}
	return nil
}

// lines reads JSON lines. It returns what is wrong, or "".
func (r *ratings) lines(text []byte) string {
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var row map[string]json.RawMessage
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			return "a line is no JSON object: " + err.Error()
		}
		var name string
		if json.Unmarshal(row["transcript"], &name) != nil || name == "" {
			return "a line has no transcript"
		}
		for field, value := range row {
			if n, ok := transcripts.Number(value); ok && field != "transcript" {
				r.set(name, field, n)
			}
		}
	}
	if s.Err() != nil {
		return "a line is too long"
	}
	return ""
}

// csv reads rows with a header.
func (r *ratings) csv(text []byte) string {
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return "the file is no CSV: " + err.Error()
	}
	at := -1
	for i, column := range first(rows) {
		if column == "transcript" {
			at = i
		}
	}
	if at < 0 {
		return "the first line has no column transcript"
	}
	for _, row := range rows[1:] {
		for i, value := range row {
			quoted, _ := json.Marshal(value)
			if n, ok := transcripts.Number(quoted); ok && i != at {
				r.set(row[at], rows[0][i], n)
			}
		}
	}
	return ""
}

func first(rows [][]string) []string {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func (r *ratings) set(transcript, field string, n float64) {
	if r.fields[transcript] == nil {
		r.fields[transcript] = map[string]float64{}
	}
	r.fields[transcript][field] = n
}

// of returns the fields of a transcript: those that it states, and its ratings. Ratings
// come first.
func (r *ratings) of(o *source.Origin) map[string]float64 {
	all := map[string]float64{}
	if o.Talk != nil {
		all = o.Talk.Numbers()
	}
	if r.fields[o.Room] != nil {
		r.found[o.Room] = true
	}
	for field, n := range r.fields[o.Room] {
		all[field] = n
	}
	return all
}

// lost is how many ratings are of transcripts that were not replayed.
func (r *ratings) lost() int {
	if r == nil {
		return 0
	}
	return len(r.fields) - len(r.found)
}

// outcomes reads --outcome and --ratings. Both results are nil without them.
func (o *replayOptions) outcomes() (*score.OutcomeField, *ratings, error) {
	if o.outcome == "" && o.ratings == "" {
		return nil, nil, nil
	}
	f, err := parseOutcome(cmp.Or(o.outcome, defaultOutcome))
	if err != nil {
		return nil, nil, err
	}
	r := &ratings{fields: map[string]map[string]float64{}, found: map[string]bool{}}
	if o.ratings != "" {
		err = r.read(o.ratings)
	}
	return f, r, err
}

// find reads the transcripts up to the first one that has, or may get, the field. It
// returns an error if there is none. So a field with a typing error is known before a
// policy is asked.
func (r *ratings) find(ctx context.Context, field string, src *source.Sources) error {
	defer src.Quiet()()
	var all []string
	found := false
	err := src.Each(ctx, func(o source.Origin) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fields := r.of(&o)
		_, found = fields[field]
		if found = found || o.Talk == nil && field == history.FieldCompleted; found { // of a room, its end decides
			return errEnough
		}
		all = slices.AppendSeq(all, maps.Keys(fields))
		slices.Sort(all)
		all = slices.Compact(all)
		return nil
	})
	switch {
	case found:
		return nil
	case err != nil:
		return err
	}
	return noOutcome(field, all)
}

// checkOutcome reports an outcome that no transcript has.
func checkOutcome(f *score.OutcomeField, r *reports.Report) error {
	if f == nil || r.Outcome == nil || r.Outcome.Transcripts > 0 {
		return nil
	}
	return noOutcome(f.Name, r.Outcome.Fields)
}

// noOutcome is the error of a field that no transcript has. These are the fields that
// they have.
func noOutcome(field string, fields []string) error {
	fix := "the transcripts have no fields; give them by --ratings FILE"
	if len(fields) > 0 {
		fix = "the fields are " + strings.Join(fields[:min(len(fields), 40)], ", ")
	}
	return &problem.Error{Code: "REPLAY-OUTCOME", What: "no transcript has the field " + field, Fix: fix}
}
