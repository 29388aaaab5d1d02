// Package api has the bodies of the HTTP API: what a server of this device reads
// and writes, and what its clients write and read. It does no input or output.
package api
