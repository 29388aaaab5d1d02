package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// fakeAgent is an agent of the Agent Client Protocol for tests. Its
// argument says how it behaves:
//
//	ready     it opens a session, and answers
//	noisy     the same in an empty folder only, with lines that are no messages
//	out       it is not signed in
//	says-out  the same, but it opens a session
//	hangs     it never answers
//	exits     it ends when a session is to be opened
func fakeAgent() {
	behaviour := os.Args[1]
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct {
			ID     json.RawMessage
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil || q.Method == "" || q.ID == nil {
			continue
		}
		if behaviour == "noisy" {
			fmt.Printf("\x1b[2mstarting %s\x1b[0m\nwarning: no update was looked for\n", q.Method)
		}
		if behaviour == "hangs" {
			time.Sleep(time.Hour) // until it is killed
		}
		fakeAnswer(behaviour, q.ID, q.Method, q.Params)
	}
}

// fakeAnswer answers one request.
func fakeAnswer(behaviour string, id json.RawMessage, method string, params map[string]any) {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	switch method {
	case "initialize":
		answer["result"] = map[string]any{"protocolVersion": 1, "agentInfo": map[string]string{"name": "fake", "version": "1.2.3"}}
	case "session/new":
		switch behaviour {
		case "noisy":
			if entries, err := os.ReadDir(fmt.Sprint(params["cwd"])); err != nil || len(entries) > 0 {
				fmt.Fprintln(os.Stderr, "the folder is not empty")
				os.Exit(4)
			}
			answer["result"] = map[string]any{"sessionId": "s1"}
		case "out":
			answer["error"] = map[string]any{"code": -32000, "message": "Authentication required"}
		case "says-out":
			fmt.Println(`{"jsonrpc":"2.0","method":"_auth/status_update","params":{"authStatus":{"kind":"none"}}}`)
			answer["result"] = map[string]any{"sessionId": "s1"}
		case "exits":
			fmt.Fprintln(os.Stderr, "cannot find module 'express'")
			os.Exit(3)
		default:
			answer["result"] = map[string]any{"sessionId": "s1"}
		}
	case "session/prompt":
		fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk",` +
			`"messageId":"m1","content":{"type":"text","text":"I have read the prompt."}}}}` + "\n")
		answer["result"] = map[string]any{"stopReason": "end_turn", "usage": map[string]int{"inputTokens": 900, "outputTokens": 6, "totalTokens": 906}}
	case "session/set_mode", "session/close":
		answer["result"] = map[string]any{}
	case "session/set_config_option":
		answer["result"] = map[string]any{"configOptions": []any{map[string]any{"id": params["configId"], "currentValue": params["value"]}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "no such method"}
	}
	line, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", line)
}
