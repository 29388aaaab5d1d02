package foreign

import "testing"

// TestNotByAccident: a file of one program is not read as that of another one.
func TestNotByAccident(t *testing.T) {
	const said = `{"role":"user","content":"a"},{"role":"assistant","content":"b"}`
	for in, want := range map[string]Format{
		`[{"role":"session_meta","model":"m"},` + said + `]`:                                                 Hermes,
		`{"id":"1","messages":[{"role":"session_meta","content":""},` + said + `]}`:                          Hermes,
		`[` + said + `,{"role":"note","content":"c"}]`:                                                       OpenAI,
		`[{"role":"note","content":"c"},` + said + `]`:                                                       OpenAI,
		`[{"role":"human","content":"a"},{"role":"WebSurfer","content":"b"}]`:                                MagenticOne,
		`[` + said + `,{"role":"Orchestrator (thought)","content":"c"}]`:                                     MagenticOne,
		`{"uuid":"1","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"a"}]}}`:        Qwen,
		`{"uuid":"1","sessionId":"s","type":"user","message":{"role":"user","content":"a"}}`:                 ClaudeCode,
		`{"uuid":"1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[]}}`:              Qwen,
		`{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":"a"}]}`:                     Gemini,
		`{"data":[{"traceID":"t","spans":[]}]}`:                                                              OTel,
		`{"batches":[]}`:                                                                                     OTel,
		`{"trajectory":[{"role":"user","name":"x","content":"a"},{"role":"user","name":"y","content":"b"}]}`: AutoGen,
		`[{"traj":[` + said + `]}]`:                                                                          OpenAI,
	} {
		f, err := detect(&input{name: "f", raw: []byte(in), strict: true})
		if err != nil || f != want {
			t.Errorf("%s is %s, %v; want %s", in, f, err, want)
		}
	}
}
