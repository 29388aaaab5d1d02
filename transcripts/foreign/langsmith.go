package foreign

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/folkmoot/moot/transcripts"
)

// langSmithOrder says how runs were ordered.
const langSmithOrder = "by the start of the run; repeated messages once, where they are first"

// A langRun is a run of LangSmith: a call of a model, a tool or a chain.
type langRun struct {
	v                 value
	id, parent, trace string
	order             string
	kind              string
}

// readLangSmith reads run trees of LangSmith: a list of runs, an object with runs, runs
// with child_runs, or one a line. Each trace is a conversation, made of the messages of
// its model runs. The request of a run repeats earlier messages, which count once.
func readLangSmith(in *input) iter.Seq2[*Conversation, error] {
	return func(yield func(*Conversation, error) bool) {
		var runs []*langRun
		for _, doc := range in.docs {
			runs = in.langRuns(doc, "", runs, 0)
		}
		if err := in.firstError(); err != nil {
			yield(nil, err)
			return
		}
		slices.SortStableFunc(runs, func(a, b *langRun) int { return strings.Compare(a.order, b.order) })
		traces := map[string][]*langRun{}
		var order []string
		for _, r := range runs {
			if traces[r.trace] == nil {
				order = append(order, r.trace)
			}
			traces[r.trace] = append(traces[r.trace], r)
		}
		for _, trace := range order {
			l := langReader{in.newBuilder(LangSmith, trace), toolCalls{}, map[string]int{}, map[string]*langRun{}}
			l.report.Order = langSmithOrder
			l.runs(traces[trace])
			if !yield(l.done(in.firstError())) || in.firstError() != nil {
				return
			}
		}
	}
}

// isLangRun reports whether v is a run.
func isLangRun(v value) bool {
	return v.has("run_type") && (v.has("inputs") || v.has("outputs") || v.has("dotted_order") || v.has("trace_id"))
}

// langRuns appends the runs of a document, and those below them.
func (in *input) langRuns(v value, trace string, runs []*langRun, depth int) []*langRun {
	if depth > MaxDepth {
		return runs
	}
	list := v
	if v.kind() == '{' {
		list = v.get("runs")
	}
	if list.kind() == '[' {
		for item := range list.items() {
			runs = in.langRuns(item, trace, runs, depth+1)
		}
		return runs
	}
	if len(runs) == maxItems {
		v.at.document().refuse(tooMany(in.name))
		return runs
	}
	if !in.strict {
		v = v.apart()
	}
	r := &langRun{v: v, id: v.get("id").maybeText(), parent: v.get("parent_run_id").maybeText(), kind: v.require("run_type").text()}
	r.trace = cmp.Or(v.get("trace_id").maybeText(), trace, r.id)
	if err := v.failed(); err != nil && !in.strict {
		in.faults.add(err)
		return runs
	}
	r.order = cmp.Or(v.get("start_time").maybeText(), v.get("dotted_order").maybeText())
	runs = append(runs, r)
	for child := range v.get("child_runs").itemsOf() {
		before := len(runs)
		if runs = in.langRuns(child, r.trace, runs, depth+1); len(runs) > before && runs[before].parent == "" {
			runs[before].parent = r.id
		}
	}
	return runs
}

// A langReader reads one trace.
type langReader struct {
	*builder
	made  toolCalls
	taken map[string]int // messages that were converted, by their texts
	byID  map[string]*langRun
}

// runs adds the messages of the model runs; of chains only if there are none.
func (l langReader) runs(all []*langRun) {
	models := 0
	for _, r := range all {
		l.byID[r.id] = r
		if r.kind == "llm" {
			models++
		}
	}
	for _, r := range all {
		if r.kind != "llm" && (models > 0 || r.kind != "chain") {
			l.leaveOut("run of the type " + typeOrNone(r.kind))
			continue
		}
		l.one(r.v, func(v value) { l.run(r, v) })
	}
}

// run adds the messages of a run.
func (l langReader) run(r *langRun, v value) {
	here := map[string]int{}
	agent := l.agent(r)
	added := 0
	start, _ := langTime(v.get("start_time"))
	end, ok := langTime(v.get("end_time"))
	if !ok {
		end = start
	}
	for _, m := range langMessages(v.get("inputs")) {
		added += l.message(m, agent, here, start)
	}
	for _, m := range langMessages(v.get("outputs")) {
		added += l.message(m, agent, here, end)
	}
	if added == 0 {
		l.leaveOut("run without messages")
	}
}

// langTime reads a time, which has no zone in some exports.
func langTime(v value) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, v.maybeText()); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// langMessages returns the messages in the inputs or the outputs of a run.
func langMessages(v value) (all []value) {
	for _, key := range []string{"messages", "generations", "choices", "output", "input"} {
		list := v.get(key)
		if list.kind() == 0 {
			continue
		}
		return langFlat(list, nil, 0)
	}
	if v.has("content") {
		return []value{v}
	}
	return nil
}

// langFlat returns the messages in nested lists and in the objects that wrap them.
func langFlat(v value, all []value, depth int) []value {
	switch inner := v.get("message"); {
	case depth > 8:
	case v.kind() == '[':
		for item := range v.items() {
			all = langFlat(item, all, depth+1)
		}
	case inner.kind() == '{':
		return append(all, inner)
	case v.kind() == '{' || v.kind() == '"':
		return append(all, v)
	}
	return all
}

// message adds a message that has not been there yet. It returns how many pieces it
// counted.
func (l langReader) message(m value, agent string, here map[string]int, at time.Time) int {
	role, fields := langRole(m)
	text := l.langText(m, fields)
	calls := langCalls(fields)
	key := text
	for _, c := range calls {
		key += "\x00" + c.compact()
	}
	if here[key]++; here[key] <= l.taken[key] {
		l.leaveOut("repeated message")
		return 1
	}
	l.taken[key] = here[key]
	p := piece{text: text, at: at}
	switch role {
	case "system", "developer":
		l.leaveOut("instructions of the role " + role)
	case "tool", "function":
		call := l.made[fields.get("tool_call_id").maybeText()]
		call.tool = cmp.Or(call.tool, fields.get("name").maybeText())
		l.toolAnswer(call, text, piece{at: at})
	case "human", "user":
		p.speaker = l.participant(cmp.Or(fields.get("name").maybeText(), "user"), "", transcripts.KindHuman, "")
		l.addText(p, "message without a text")
	default:
		first := len(l.c.Turns)
		defer func() { l.state("", first, langUsage.of(fields.get("usage_metadata"))) }()
		p.speaker = l.participant(cmp.Or(fields.get("name").maybeText(), agent), "", transcripts.KindAgent, "")
		if strings.TrimSpace(text) != "" || len(calls) == 0 {
			l.addText(p, "message without a text")
		}
		for _, c := range calls {
			name, args := c.get("name").maybeText(), c.get("args")
			if f := c.get("function"); f.kind() == '{' {
				name, args = f.get("name").maybeText(), f.get("arguments")
			}
			l.toolCallTurn(p.speaker, cmp.Or(name, "tool"), arguments(args), c.get("id").maybeText(), l.made, piece{at: at})
		}
	}
	return 1
}

// langRole returns the role of a message and the object with its fields. Messages are
// those of an API, or objects of LangChain in one of three forms.
func langRole(m value) (string, value) {
	if m.kind() == '"' {
		return "assistant", m
	}
	fields := m
	for _, key := range []string{"kwargs", "data"} {
		if inner := m.get(key); inner.kind() == '{' {
			fields = inner
		}
	}
	if role := cmp.Or(m.get("role").maybeText(), fields.get("role").maybeText()); role != "" {
		return role, fields
	}
	kind := fields.get("type").maybeText()
	if kind == "" || kind == "constructor" {
		kind = m.get("type").maybeText()
	}
	for part := range m.get("id").itemsOf() { // the last part is the class, such as HumanMessage
		kind = part.maybeText()
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(kind), "chunk"), "message"), fields
}

func (l langReader) langText(m, fields value) string {
	if m.kind() == '"' {
		return m.text()
	}
	content := fields.get("content")
	if content.kind() == 0 {
		return fields.get("text").maybeText()
	}
	return l.content(content)
}

// langCalls returns the calls of tools in a message.
func langCalls(fields value) (all []value) {
	list := fields.get("tool_calls")
	if list.kind() == 0 {
		list = fields.get("additional_kwargs").get("tool_calls")
	}
	for c := range list.itemsOf() {
		all = append(all, c)
	}
	return all
}

// plumbing are names of chains that are no agents.
var plumbing = []string{"", "LangGraph", "RunnableSequence", "RunnableLambda", "RunnableParallel", "RunnableAssign", "ChatPromptTemplate", "AgentExecutor", "call_model", "Prompt"}

// agent returns the name of the agent that made a run: the node of the graph, or the
// nearest chain with a name of its own.
func (l langReader) agent(r *langRun) string {
	for n := 0; r != nil && n < maxNested; n++ {
		meta := r.v.get("extra").get("metadata")
		for _, key := range []string{"lc_agent_name", "langgraph_node"} {
			if name := meta.get(key).maybeText(); name != "" && !slices.Contains(plumbing, name) {
				return name
			}
		}
		if name := r.v.get("name").maybeText(); r.kind == "chain" && !slices.Contains(plumbing, name) && r.parent != "" {
			return name
		}
		r = l.byID[r.parent]
	}
	return "assistant"
}
