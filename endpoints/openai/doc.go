// Package openai drives a language model by the chat completions API, as OpenAI,
// Ollama, llama.cpp, vLLM and others serve it.
//
// A turn is one POST of chat/completions with two messages. The system message has
// the instructions of the agent's owner and how the model passes, see
// [endpoint.PlainInstructions]. The user message is the text of the prompt. The
// model keeps nothing between turns, so a room gives it the whole context each time.
// It cannot bid, and is offered no tools.
//
// # The answer
//
// The answer is streamed. It is complete when the server has sent a finish_reason:
// with stop the text is said; with length too, with a reason that it was cut; with
// content_filter the model has refused. A stream that ends before is a failed turn.
// Reasoning is never said: the field reasoning_content is dropped, and <think>
// blocks at the beginning of the text are. The usage is that of the last chunk,
// unknown without one.
//
// # Faults of a server
//
// Package webclient retries requests that a busy server refuses, refuses redirects,
// and bounds an answer, a line of it and the text of an error. Nothing is retried
// after the first byte of an answer. No error has the key.
package openai
