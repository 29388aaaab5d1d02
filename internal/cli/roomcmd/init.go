package roomcmd

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/examples"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
)

// newInitCmd writes a room to start from.
func newInitCmd(a *commands) *cobra.Command {
	var template, peer string
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a room to start from",
		Long: "init writes a room that runs as it stands into FOLDER, by default the one it\n" +
			"is in. It changes nothing that is there.\n\nTemplates:\n" +
			"  demo        three agents that only read lines\n" +
			"  one-to-one  two agents in Python that take turns; with --peer one of them is shared\n" +
			"  review      three agents in shell and Python that review a plan",
		Example: "  moot init myroom\n  moot init --template review myroom\n  moot init --template one-to-one --peer bob/reviewer myroom",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(examples.Names, template) {
				return app.Usagef(cmd, "no template %q; there are %s", template, strings.Join(examples.Names, ", "))
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			change, err := seatPeer(template, peer)
			if err != nil {
				return err
			}
			return a.init(dir, template, change)
		},
	}
	cmd.Flags().StringVar(&peer, "peer", "", "of one-to-one: seat the shared agent PEER/PROFILE instead of a local stand-in")
	cmd.Flags().StringVar(&template, "template", "demo", strings.Join(examples.Names, ", "))
	return cmd
}

// A written is what init has made.
type written struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
}

// standIn is the endpoint of the template one-to-one that --peer replaces.
const standIn = "endpoint: {kind: ndjson, command: [python3, ./agents/pair.py, answers]}"

// seatPeer returns what --peer changes of a room file.
func seatPeer(template, peer string) (func([]byte) []byte, error) {
	if peer == "" {
		return func(b []byte) []byte { return b }, nil
	}
	device, profile, ok := strings.Cut(peer, "/")
	if !ok || template != "one-to-one" || device == "" || profile == "" || strings.ContainsAny(peer, "\"\\\n{}") {
		return nil, app.FlagProblem("--peer", peer, "it is PEER/PROFILE, and goes with --template one-to-one")
	}
	seat := fmt.Sprintf("endpoint: {kind: relay, peer: %q, profile: %s}", device, profile)
	return func(b []byte) []byte { return bytes.Replace(b, []byte(standIn), []byte(seat), 1) }, nil
}

func (a *commands) init(dir, template string, change func([]byte) []byte) error {
	files, err := fs.Sub(examples.FS, template)
	if err != nil {
		return fmt.Errorf("opening template: %w", err)
	}
	names, err := regular(files)
	if err != nil {
		return fmt.Errorf("listing template: %w", err)
	}
	for _, name := range names {
		target := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(target); err == nil {
			return &problem.Error{Code: "INIT-EXISTS", What: "the file is there already", Where: target, Fix: "name another folder: `moot init FOLDER`"}
		}
	}
	for _, name := range names {
		if err := copyOut(files, name, dir, change); err != nil {
			return &problem.Error{Code: "INIT-WRITE", What: "cannot write the room", Where: filepath.Join(dir, name), Fix: "name a folder that can be written", Err: err}
		}
	}
	w := written{dir, names}
	err = a.Emit(w, func(out io.Writer) error {
		for _, name := range names {
			fmt.Fprintln(out, filepath.Join(dir, name))
		}
		return nil
	})
	if err == nil && a.Format == app.FormatTable {
		a.Note("next: moot run %s", filepath.Join(dir, "room.yaml"))
	}
	return err
}

// regular lists the files of a template, room.yaml first.
func regular(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	rank := func(name string) int {
		if name == "room.yaml" {
			return -1
		}
		return strings.Count(name, "/")
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names, err
}

// copyOut writes one file. A file that starts with #! becomes executable,
// because an embedded file has no mode.
func copyOut(files fs.FS, name, dir string, change func([]byte) []byte) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(text, []byte("#!")) || path.Ext(name) == ".sh" {
		mode = 0o755
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if name == "room.yaml" {
		text = change(text)
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close() // the write's error says more
		return err
	}
	return f.Close()
}
