package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkClaudeCode reads a session of 20,000 lines; MB/s are of the file.
func BenchmarkClaudeCode(b *testing.B) {
	var s strings.Builder
	for i := range 20000 {
		parent := fmt.Sprintf(`"u%d"`, i-1)
		if i == 0 {
			parent = "null"
		}
		head := fmt.Sprintf(`"uuid":"u%d","parentUuid":%s,"isSidechain":false,"sessionId":"s","timestamp":"2026-03-02T09:00:00.000Z"`, i, parent)
		if i%2 == 0 {
			fmt.Fprintf(&s, `{"type":"user",%s,"message":{"role":"user","content":"%s"}}`+"\n", head, strings.Repeat("word ", 200))
			continue
		}
		fmt.Fprintf(&s, `{"type":"assistant",%s,"message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"ls"}}]}}`+"\n",
			head, i, strings.Repeat("done\\n", 200), i)
	}
	content := []byte(s.String())
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		f, err := Open(bytes.NewReader(content), "f", Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range f.Conversations() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
