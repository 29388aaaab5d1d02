package policy

// A Level says how much a logged line matters.
type Level int32

// Levels of [Log].
const (
	Debug Level = iota
	Info
	Warn
	Error
)
