// Package plugins runs policies in a WebAssembly sandbox.
package plugins
