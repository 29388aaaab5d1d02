package controlcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/api"
	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/room"
)

// newApproveCmd sends a draft or allows an action.
func newApproveCmd(a *commands) *cobra.Command {
	var s sender
	var always bool
	cmd := &cobra.Command{
		Use:   "approve ITEM",
		Short: "Send a draft, or allow what an agent asks for",
		Long: "approve answers an item of `moot inbox`: it sends a draft, or allows an action this\n" +
			"once. ITEM is the id of the item; its part after the room is enough if no other item\n" +
			"begins with it.",
		Example:           "  moot approve r_01k5/3.1\n  moot approve 3.1 --always\n  moot approve 6d83",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeItem(inbox.Draft, inbox.Permission),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer := inbox.Answer{Answer: inbox.Approve}
			if always {
				answer.Answer = inbox.Always
			}
			return a.answer(cmd.Context(), args[0], s, answer, map[bool]string{true: "allowed", false: "approved"})
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&always, "always", false, "of a permission request: the agent may do the like in future, too")
	return cmd
}

// newRejectCmd refuses a draft or an action.
func newRejectCmd(a *commands) *cobra.Command {
	var s sender
	cmd := &cobra.Command{
		Use:   "reject ITEM [REASON]",
		Short: "Refuse a draft, or what an agent asks for",
		Long: "reject answers an item of `moot inbox`: a draft is not sent, an action is not\n" +
			"allowed, or a question is not answered. The reason is in the log, and an agent is told why it may not.",
		Example:           "  moot reject r_01k5/3.1 \"not on this branch\"\n  moot reject 6d83",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeItem(inbox.Draft, inbox.Permission, inbox.Question),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd.Context(), args[0], s, inbox.Answer{Answer: inbox.Reject, Reason: append(args, "")[1]}, map[bool]string{true: "refused", false: "rejected"})
		},
	}
	s.flags(cmd)
	return cmd
}

// newEditCmd sends another text than that of a draft.
func newEditCmd(a *commands) *cobra.Command {
	var s sender
	var keep bool
	cmd := &cobra.Command{
		Use:   "edit ITEM [TEXT]",
		Short: "Change the text of a draft, and send it",
		Long: "edit sends another text in place of a draft. The log keeps both. TEXT is - for what\n" +
			"is on stdin. Without TEXT, at a terminal, the editor that VISUAL or EDITOR names\n" +
			"opens with the draft; an empty or unchanged text sends nothing.",
		Example:           "  moot edit 6d83 \"Please wait for the index.\"\n  moot edit r_01k5/6d83219320b6a8bf",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeItem(inbox.Draft),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.findItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text := ""
			if len(args) == 2 {
				text, err = a.text(cmd, args[1])
			} else {
				text, err = a.edited(cmd, id)
			}
			if err != nil {
				return err
			}
			said := "edited and sent"
			if keep {
				said = "edited"
			}
			return a.answer(cmd.Context(), id, s, inbox.Answer{Answer: inbox.Edit, Text: text, Keep: keep}, map[bool]string{false: said})
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&keep, "keep", false, "let the new text wait for an approval")
	return cmd
}

// answer answers the item that arg means, and says so in the words for a permission
// request (true) or a draft.
func (a *commands) answer(ctx context.Context, arg string, s sender, answer inbox.Answer, said map[bool]string) error {
	id, err := a.findItem(ctx, arg)
	if err != nil {
		return err
	}
	in, command, err := app.AnswerCommand(id, answer)
	if err != nil {
		return err
	}
	_, item, _ := strings.Cut(id, "/")
	d, err := a.do(ctx, in, s, func(_ room.View, q *api.Command) {
		command.As, command.ID = q.As, q.ID
		*q = command
	})
	if err != nil {
		return err
	}
	return a.tell(d, said[inbox.IsRequest(item)]+" "+d.Room+"/"+item)
}

// edited returns the text of a draft as a person has changed it in an editor.
func (a *commands) edited(cmd *cobra.Command, id string) (string, error) {
	editor := strings.Fields(firstOf(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	if !a.Interactive() {
		return "", app.Usagef(cmd, "the new text is missing, and there is no terminal for an editor")
	}
	items, err := a.items(cmd.Context())
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(items, func(x inbox.Item) bool { return x.ID == id && x.Kind == inbox.Draft })
	if i < 0 {
		return "", inbox.UnknownError(id)
	}
	dir, err := os.MkdirTemp("", "moot-draft-")
	if err != nil {
		return "", fmt.Errorf("making a file for the editor: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "draft.md")
	if err := os.WriteFile(file, []byte(items[i].Text), 0o600); err != nil {
		return "", fmt.Errorf("making a file for the editor: %w", err)
	}
	run := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], file)...)
	run.Stdin, run.Stdout, run.Stderr = a.Stdin, os.Stderr, os.Stderr
	if err := run.Run(); err != nil {
		return "", &problem.Error{Code: "CLI-EDITOR", What: "the editor has failed, and nothing was sent", Where: editor[0], Fix: "set VISUAL or EDITOR to a program, or give the text: `moot edit ITEM TEXT`", Err: err}
	}
	text, err := readBounded(file)
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(text) == "":
		return "", &problem.Error{Code: "CLI-EDITOR", What: "the text is empty, and nothing was sent", Fix: "`moot reject ITEM` refuses a draft"}
	case text == items[i].Text:
		return "", &problem.Error{Code: "CLI-EDITOR", What: "the text is unchanged, and nothing was sent", Fix: "`moot approve ITEM` sends it as it is"}
	}
	return text, nil
}

// readBounded returns what an editor has written.
func readBounded(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading the edited text: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(b) > maxText {
		err = &problem.Error{Code: "CLI-EDITOR", What: "the text is longer than 1 MiB", Fix: "put it into a file, and say where it is"}
	}
	return string(b), err
}

// firstOf returns the first text that is not blank.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
