package setupcmd

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/config"
	"github.com/folkmoot/moot/policies/policy"
	"github.com/folkmoot/moot/room"
)

// schemas makes the JSON Schema of each kind of file.
var schemas = []struct {
	kind, doc string
	make      func() any
}{
	{"event", "one line of a room's log or of an exported transcript", eventSchema},
	{"message", "the envelope of everything that is said", func() any { return schemaOf("message", room.Message{}) }},
	{"policy", "policy.json, the manifest of a policy", func() any { return schemaOf("policy.json", policy.Manifest{}) }},
	{"room", "room.yaml", func() any { return json.RawMessage(config.Schema()) }},
}

// newSchemaCmd prints schemas for editors and other programs.
func newSchemaCmd(a *commands) *cobra.Command {
	var names []string
	long := "schema prints a JSON Schema:\n\n"
	for _, s := range schemas {
		names = append(names, s.kind)
		long += "  " + s.kind + strings.Repeat(" ", 9-len(s.kind)) + s.doc + "\n"
	}
	cmd := &cobra.Command{
		Use:       "schema {" + strings.Join(names, " | ") + "}",
		Short:     "Print the JSON Schema of room.yaml and of other files",
		Long:      long + "\nEditors read room.yaml's with this first line:\n  # yaml-language-server: $schema=./room.schema.json",
		Example:   "  moot schema room > room.schema.json",
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return app.Usagef(cmd, "schema takes one of %s", strings.Join(names, ", "))
			}
			return a.printSchema(args[0])
		},
	}
	app.Formats(cmd, app.FormatJSON)
	return cmd
}

func (a *commands) printSchema(kind string) error {
	for _, s := range schemas {
		if s.kind != kind {
			continue
		}
		b, err := json.Marshal(s.make())
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, b, "", "  "); err != nil {
			return err
		}
		out.WriteByte('\n')
		_, err = io.Copy(a.Stdout, &out)
		return err
	}
	return nil
}
