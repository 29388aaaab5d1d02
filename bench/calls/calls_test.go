package calls

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"text/tabwriter"
)

// TestCost: with agents that keep what they were sent, calls send at most 20 % more than
// one agent is sent that does the same, in each job and in all of them together.
func TestCost(t *testing.T) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, remembers := range []bool{true, false} {
		fmt.Fprintf(w, "\n%s\nalone\tlead\tagents\tanswers\tcalls\tdifference\tas messages\talone at once\tjob\t\n", heading(remembers))
		var all [4]sent
		for _, j := range jobs() {
			var one [4]sent
			for i, how := range []way{alone, called, mailed, atOnce} {
				one[i] = measure(t, j, how, remembers)
				all[i] = all[i].plus(one[i])
			}
			row(t, w, j.name, one, remembers)
		}
		row(t, w, "together", all, remembers)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
}

func heading(remembers bool) string {
	if remembers {
		return "agents that keep what they were sent, such as those of ACP; estimated tokens"
	}
	return "agents that get the whole window in each turn, such as model servers; estimated tokens"
}

// row prints the estimated tokens of a job, and checks them if the limit holds for them.
func row(t *testing.T, w io.Writer, name string, of [4]sent, limited bool) {
	t.Helper()
	one, calls, mail, once := of[0], of[1], of[2], of[3]
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%s\t%d %s\t%d\t%s\t\n", one.total()/4, calls.lead/4, calls.called/4, calls.answers/4, calls.total()/4, more(calls, one), mail.total()/4, more(mail, one), once.total()/4, name)
	if float64(calls.total()) > (1+limit)*float64(one.total()) && limited {
		t.Errorf("%s: %d bytes with calls and %d alone, %s", name, calls.total(), one.total(), more(calls, one))
	}
}

// more returns how much more a is than b.
func more(a, b sent) string {
	return fmt.Sprintf("%+.1f %%", 100*(float64(a.total())/float64(b.total())-1))
}

// TestSame: two runs of a job send the same, but for random marks and ids of the same
// length.
func TestSame(t *testing.T) {
	for _, j := range jobs() {
		for _, how := range []way{alone, called} {
			if a, b := measure(t, j, how, true), measure(t, j, how, true); a != b {
				t.Errorf("%s: %+v, then %+v", j.name, a, b)
			}
		}
	}
}
