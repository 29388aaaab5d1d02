package foreign

import "testing"

// TestClaudeSubAgentFile reads the file of a sub-agent. The main session is in
// another file with the same id.
func TestClaudeSubAgentFile(t *testing.T) {
	const in = `{"type":"user","uuid":"1","parentUuid":null,"isSidechain":true,"agentId":"a17","sessionId":"s","message":{"role":"user","content":"Count them."}}
{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":true,"agentId":"a17","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Two."}]}}
`
	_, all, err := read(t, []byte(in), "agent-a17.jsonl", "")
	if err != nil {
		t.Fatal(err)
	}
	const want = `# s/a17 (claude-code): 2 pieces, 2 turns, 0 joined
agent "assistant" name="Claude" role=""
agent "subagent" name="" role="sub-agent"
0 assistant -> subagent: Count them.
1 subagent: Two.
`
	if got := told(all); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestClaudeCycle reads lines that are their own ancestors.
func TestClaudeCycle(t *testing.T) {
	const in = `{"type":"user","uuid":"1","parentUuid":"2","isSidechain":true,"sessionId":"s","message":{"role":"user","content":"a"}}
{"type":"user","uuid":"2","parentUuid":"1","isSidechain":true,"sessionId":"s","message":{"role":"user","content":"b"}}
{"type":"user","uuid":"3","parentUuid":"3","sessionId":"s","message":{"role":"user","content":"c"}}
`
	_, all, err := read(t, []byte(in), "f", "")
	if err != nil || len(all) != 1 || len(all[0].Turns) != 3 {
		t.Errorf("%v: %s", err, told(all))
	}
}
