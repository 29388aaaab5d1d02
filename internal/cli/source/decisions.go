package source

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/folkmoot/moot/internal/cli/app"
	"github.com/folkmoot/moot/problem"
	"github.com/folkmoot/moot/transcripts"
	"github.com/folkmoot/moot/transcripts/foreign"
)

// decisionFiles are the files that have decisions of conversations of other files.
// They are read first, wherever they are among the arguments.
type decisionFiles struct {
	names []string
	lists []*transcripts.DecisionList // in the order of the files
	byID  map[string][]*transcripts.DecisionList
	used  map[string]bool // ids of conversations
}

// readDecisions reads the files of decisions among the arguments.
func (s *Sources) readDecisions() error {
	s.decisions = decisionFiles{byID: map[string][]*transcripts.DecisionList{}, used: map[string]bool{}}
	for _, name := range s.Args {
		if err := s.decisions.read(name, s.how); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file if it has decisions alone. Other files are read later, and so are
// their errors.
func (d *decisionFiles) read(name string, how foreign.Options) error {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || how.Map != nil || how.Format != "" && how.Format != foreign.Moot {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	t, err := transcripts.NewReader(f, name)
	if err != nil || !t.OnlyDecisions() {
		return nil
	}
	d.names = append(d.names, name)
	for l, err := range t.Decisions() {
		if err != nil {
			return err
		}
		d.lists, d.byID[l.ID] = append(d.lists, l), append(d.byID[l.ID], l)
	}
	return nil
}

// join adds the decisions of c that other files hold.
func (d *decisionFiles) join(c *transcripts.Conversation) error {
	for _, l := range d.byID[c.ID] {
		d.used[c.ID] = true
		if err := c.Join(l); err != nil {
			return &problem.Error{
				Code: "TRANSCRIPT-CONVERSATION", What: "its decisions cannot be joined: " + err.Error(), Where: c.ID,
				Fix: "compare the participants and the times of the two files",
			}
		}
	}
	return nil
}

// unused returns the error of decisions without a conversation.
func (d *decisionFiles) unused() error {
	var ids []string
	for _, l := range d.lists {
		if !d.used[l.ID] && !slices.Contains(ids, l.ID) {
			ids = append(ids, l.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	what := "decisions without their turns: no file has the conversation " + ids[0]
	if n := len(ids) - 1; n > 0 {
		what += fmt.Sprintf(", and %s more", app.Count(n, "conversation"))
	}
	return &problem.Error{
		Code: "TRANSCRIPT-CONVERSATION", What: what, Where: strings.Join(d.names, ", "),
		Fix: "give the file that holds the turns of these conversations too",
	}
}
