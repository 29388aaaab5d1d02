package plugins

import "github.com/folkmoot/moot/plugins/guest"

// An Error is an error of the sandbox for people and scripts.
type Error = guest.Error

// Codes of errors. Codes of load refuse a module; codes of run end one decision.
// Package guest says what each means.
const (
	CodeLimits    = guest.CodeLimits
	CodeMalformed = guest.CodeMalformed
	CodeFeatures  = guest.CodeFeatures
	CodeImports   = guest.CodeImports
	CodeSignature = guest.CodeSignature
	CodeABI       = guest.CodeABI
	CodeDigest    = guest.CodeDigest
	CodeUntrusted = guest.CodeUntrusted
	CodeInit      = guest.CodeInit
	CodeConfigure = guest.CodeConfigure
	CodeCompile   = guest.CodeCompile
	CodeCache     = guest.CodeCache
	CodeClosed    = guest.CodeClosed
	CodeTrap      = guest.CodeTrap
	CodeFuel      = guest.CodeFuel
	CodeDepth     = guest.CodeDepth
	CodeMemory    = guest.CodeMemory
	CodeOutput    = guest.CodeOutput
	CodeChoice    = guest.CodeChoice
	CodeState     = guest.CodeState
	CodeRefused   = guest.CodeRefused
	CodeAudit     = guest.CodeAudit
)
