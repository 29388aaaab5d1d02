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
	"github.com/folkmoot/moot/internal/preset"
	"github.com/folkmoot/moot/problem"
)

// initOptions are the flags of init.
type initOptions struct {
	template, peer string
	agents         []string
}

// newInitCmd writes a room to start from.
func newInitCmd(a *commands) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a room to start from",
		Long: "init writes a room that runs as it stands into FOLDER, by default the one it\n" +
			"is in. It changes nothing that is there.\n\nWith --agent the room has agents of this machine: " + strings.Join(preset.Names(), ", ") + ".\n" +
			"In a terminal init asks which, if no flag says it.\n\nTemplates:\n" +
			"  demo            three agents that only read lines\n" +
			"  manager-worker  a manager, a worker and a specialist with tasks, which only read lines\n" +
			"  one-to-one      two agents in Python that take turns; with --peer one of them is shared\n" +
			"  review          three agents in shell and Python that review a plan",
		Example: "  moot init --agent claude --agent codex\n  moot init myroom\n  moot init --template review myroom\n  moot init --template one-to-one --peer bob/reviewer myroom",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.init(cmd, dir, o)
		},
	}
	cmd.Flags().StringSliceVar(&o.agents, "agent", nil, "seat this agent: "+strings.Join(preset.Names(), ", ")+"; repeatable")
	cmd.Flags().StringVar(&o.peer, "peer", "", "of one-to-one: seat the shared agent PEER/PROFILE instead of a local stand-in")
	cmd.Flags().StringVar(&o.template, "template", "demo", strings.Join(examples.Names, ", "))
	_ = cmd.RegisterFlagCompletionFunc("agent", cobra.FixedCompletions(preset.Names(), cobra.ShellCompDirectiveNoFileComp))    // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("template", cobra.FixedCompletions(examples.Names, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// init writes what the flags, or the person at the terminal, choose.
func (a *commands) init(cmd *cobra.Command, dir string, o initOptions) error {
	chosen := cmd.Flags().Changed("template") || o.peer != ""
	switch {
	case len(o.agents) > 0 && chosen:
		return app.Usagef(cmd, "--agent goes with no --template and no --peer")
	case !slices.Contains(examples.Names, o.template):
		return app.Usagef(cmd, "no template %q; there are %s", o.template, strings.Join(examples.Names, ", "))
	}
	change, err := seatPeer(o.template, o.peer)
	if err != nil {
		return err
	}
	if len(o.agents) == 0 && !chosen && a.Interactive() && a.Format == app.FormatTable {
		if err := unused(filepath.Join(dir, "room.yaml")); err != nil {
			return err
		}
		if o.agents, err = a.askAgents(cmd.Context()); err != nil {
			return err
		}
	}
	if len(o.agents) > 0 {
		return a.initAgents(cmd, dir, o.agents)
	}
	files, err := templateFiles(o.template, change)
	if err != nil {
		return err
	}
	return a.writeRoom(dir, files, "next: moot run "+filepath.Join(dir, "room.yaml"))
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

// A newFile is a file of a new room.
type newFile struct {
	name string // with slashes
	text []byte
}

// templateFiles returns the files of a template, room.yaml first.
func templateFiles(template string, change func([]byte) []byte) (all []newFile, err error) {
	files, err := fs.Sub(examples.FS, template)
	if err != nil {
		return nil, fmt.Errorf("opening template: %w", err)
	}
	names, err := regular(files)
	if err != nil {
		return nil, fmt.Errorf("listing template: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading template: %w", err)
		}
		if name == "room.yaml" {
			text = change(text)
		}
		all = append(all, newFile{name, text})
	}
	return all, nil
}

// unused returns an error if there is a file of that name.
func unused(target string) error {
	if _, err := os.Lstat(target); err == nil {
		return &problem.Error{Code: "INIT-EXISTS", What: "the file is there already", Where: target, Fix: "name another folder: `moot init FOLDER`"}
	}
	return nil
}

// writeRoom writes the files of a room and then says what is next. It writes
// nothing if one of them exists.
func (a *commands) writeRoom(dir string, files []newFile, next string) error {
	w := written{Folder: dir}
	for _, f := range files {
		if err := unused(filepath.Join(dir, filepath.FromSlash(f.name))); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.write(dir); err != nil {
			return &problem.Error{Code: "INIT-WRITE", What: "cannot write the room", Where: filepath.Join(dir, f.name), Fix: "name a folder that can be written", Err: err}
		}
		w.Files = append(w.Files, f.name)
	}
	err := a.Emit(w, func(out io.Writer) error {
		for _, name := range w.Files {
			fmt.Fprintln(out, filepath.Join(dir, name))
		}
		return nil
	})
	if err == nil && a.Format == app.FormatTable {
		a.Note("%s", next)
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

// write makes the file below dir. A file that starts with #! becomes executable,
// because an embedded file has no mode.
func (f newFile) write(dir string) error {
	target := filepath.Join(dir, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(f.text, []byte("#!")) || path.Ext(f.name) == ".sh" {
		mode = 0o755
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := out.Write(f.text); err != nil {
		_ = out.Close() // the write's error says more
		return err
	}
	return out.Close()
}
