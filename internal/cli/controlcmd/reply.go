package controlcmd

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/folkmoot/moot/internal/inbox"
	"github.com/folkmoot/moot/problem"
)

// newReplyCmd fills in the form of a question.
func newReplyCmd(a *commands) *cobra.Command {
	var s sender
	cmd := &cobra.Command{
		Use:   "reply ITEM [NAME=VALUE...]",
		Short: "Answer the question of an agent: fill in its form",
		Long: "reply answers a question of `moot inbox`: each NAME=VALUE fills in a field of its form.\n" +
			"A value of a field with options is one of them, its title, or # and its number; for\n" +
			"several, repeat the field. A field that is left out has its default, NAME= leaves it\n" +
			"empty. `moot reject` declines to answer.",
		Example:           "  moot reply r_01k5/3.1 strategy=careful\n  moot reply 3.1 'databases=#1' 'databases=#3' keep=yes",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeItem(inbox.Question),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.findItem(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			items, err := a.items(cmd.Context())
			if err != nil {
				return err
			}
			answer := inbox.Answer{Answer: inbox.Approve}
			i := slices.IndexFunc(items, func(x inbox.Item) bool { return x.ID == id })
			switch {
			case i >= 0 && items[i].Question == nil:
				return &problem.Error{Code: "INBOX-ANSWER", What: "the item is no question", Where: id, Fix: "`moot approve` and `moot reject` answer drafts and permission requests"}
			case i >= 0:
				values, err := items[i].Question.Values(args[1:])
				if err != nil {
					return &problem.Error{Code: "ROOM-VALUES", What: err.Error(), Where: id, Fix: "`moot inbox` shows the form; the question still waits"}
				}
				if err := json.Unmarshal(values, &answer.Values); err != nil {
					return err
				}
			} // else the room says who has answered it
			return a.answer(cmd.Context(), id, s, answer, map[bool]string{true: "answered"})
		},
	}
	s.flags(cmd)
	return cmd
}
