// Package bench compares the sandbox of policies with other ways to run
// WebAssembly plugins from Go, and measures the start of the program and of agents. It is a
// module of its own, so that users of Folkmoot do not download the other
// systems. Package calls measures what calls of agents send. See README.md.
package bench
