// Package model is a fake language model for tests: an HTTP server that speaks
// the APIs of five vendors and answers by a script, so that real agents run
// without a network, an account or a cost. It counts its calls and the tokens
// that it reports, which tests compare with what a room has recorded.
//
// The APIs ("dialects") are OpenAI chat completions and responses, Anthropic
// messages, Gemini generateContent and Ollama chat, streamed and whole. A path
// may begin with the name of a seat, such as /claude/v1/messages: calls are
// counted by seat. Tools with names or schemas that a vendor refuses are an error of the
// request, as the vendor's.
//
// By default the model echoes the end of the newest message of the user. A
// directive in that message orders something else; see Script.
package model
