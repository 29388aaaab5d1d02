// Package bench measures the sandbox of policies beside other ways to run
// WebAssembly plugins from Go. It is a module of its own, so that nobody who
// uses Folkmoot pulls the peers. See README.md.
package bench
