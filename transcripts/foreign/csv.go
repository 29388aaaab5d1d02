package foreign

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// parseRows parses CSV as one record for each row. The first row has the keys. Fields
// are separated by commas, semicolons or tabs, whichever the first row has most of.
func (in *input) parseRows() error {
	r := csv.NewReader(bytes.NewReader(in.raw))
	r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = true, -1, true
	head, _, _ := strings.Cut(string(in.raw[:min(len(in.raw), headBytes)]), "\n")
	for _, sep := range ";\t" {
		if strings.Count(head, string(sep)) > strings.Count(head, string(r.Comma)) {
			r.Comma = sep
		}
	}
	row, err := r.Read()
	if err != nil {
		return shapeError(in.name+":1", "the file is neither JSON nor CSV with a row of names", err)
	}
	keys := append([]string(nil), row...)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if len(in.docs) == maxItems {
			return tooMany(in.name)
		}
		line, _ := r.FieldPos(0)
		where := fmt.Sprintf("%s:%d", in.name, line)
		var rec value
		if err == nil {
			rec, err = in.row(keys, row, line)
		} else {
			err = shapeError(where, "the row cannot be read", err)
		}
		if err == nil {
			in.docs = append(in.docs, rec)
		} else if in.faults.add(err); in.strict {
			return err
		}
	}
}

// row returns a row as an object.
func (in *input) row(keys, row []string, line int) (value, error) {
	where := fmt.Sprintf("%s:%d", in.name, line)
	if len(row) > len(keys) {
		return value{}, shapeError(where, fmt.Sprintf("the row has %d fields and the first one %d", len(row), len(keys)), nil)
	}
	fields := make(map[string]string, len(row))
	for i, f := range row {
		if !utf8.ValidString(f) {
			return value{}, shapeError(where, "the row is not valid UTF-8", nil)
		}
		fields[keys[i]] = f
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return value{}, shapeError(where, "the row cannot be read", err)
	}
	return value{raw, &place{doc: &document{file: in.name, line: line}}}, nil
}
