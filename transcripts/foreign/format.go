package foreign

import (
	"slices"
	"strings"
)

// A Format is a transcript format.
type Format string

// Formats. Moot stands for the two formats that package transcripts reads.
const (
	Moot         Format = "moot"
	AutoGen      Format = "autogen"       // chat history of AutoGen 0.2 and AG2
	AutoGenState Format = "autogen-state" // state of a team, or result of a task, of AutoGen 0.4 and later
	MagenticOne  Format = "magentic-one"
	ClaudeCode   Format = "claude-code"
	Codex        Format = "codex"
	OTel         Format = "otel" // spans with gen_ai attributes, as OTLP JSON
	Slack        Format = "slack"
	IRC          Format = "irc"
	OpenAI       Format = "openai" // chat messages
	A2A          Format = "a2a"
	WebVTT       Format = "webvtt"
	SRT          Format = "srt"
	OpenCode     Format = "opencode"
	Hermes       Format = "hermes"
	Gemini       Format = "gemini-cli"
	Qwen         Format = "qwen-code"
	Discord      Format = "discord"
	Matrix       Format = "matrix"
	Inspect      Format = "inspect" // logs of evaluations
	LangSmith    Format = "langsmith"
)

// A Kind describes a format.
type Kind struct {
	Format Format `json:"format"`
	What   string `json:"what"` // for people
}

// Kinds returns all formats, Moot first.
func Kinds() []Kind {
	return []Kind{
		{Moot, "output of moot transcript export, or the neutral format, one conversation a line"},
		{AutoGen, "AutoGen 0.2 and AG2: chat history, JSON"},
		{AutoGenState, "AutoGen 0.4: state of a team or result of a task, JSON"},
		{MagenticOne, "Magentic-One: log with routing in its roles, JSON"},
		{ClaudeCode, "Claude Code: session, JSON lines"},
		{Codex, "Codex: rollout, JSON lines"},
		{OTel, "OpenTelemetry: gen_ai spans, OTLP JSON or JSON lines of it"},
		{Slack, "Slack: export, zip"},
		{IRC, "IRC: log as text"},
		{OpenAI, "OpenAI: chat messages, JSON or JSON lines"},
		{A2A, "A2A: task with its history, JSON"},
		{WebVTT, "WebVTT: captions"},
		{SRT, "SubRip: captions"},
		{OpenCode, "opencode: opencode export, JSON"},
		{Hermes, "Hermes Agent: session, JSON lines or JSON"},
		{Gemini, "Gemini CLI: session, JSON or JSON lines"},
		{Qwen, "Qwen Code: session, JSON lines"},
		{Discord, "Discord: channel of DiscordChatExporter, JSON"},
		{Matrix, "Matrix: export of Element, or events of a room, JSON"},
		{Inspect, "Inspect: log of an evaluation, JSON or .eval"},
		{LangSmith, "LangSmith: run trees, JSON or JSON lines"},
	}
}

// Valid reports whether f is a format.
func (f Format) Valid() bool {
	return slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Format == f })
}

// formatNames lists the formats for an error.
func formatNames() string {
	var all []string
	for _, k := range Kinds() {
		all = append(all, string(k.Format))
	}
	return strings.Join(all, ", ")
}

// json reports whether a format is JSON or JSON lines.
func (f Format) json() bool { return f != Slack && f != IRC && f != WebVTT && f != SRT }
