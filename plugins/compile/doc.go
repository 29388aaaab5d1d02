// Package compile makes modules of policies ready to run: it validates them,
// takes their initial snapshots, and compiles them. It keeps both results on
// disk, in the compile cache.
//
// [Compiler.Trusted] is for built-in modules. It compiles in this process. A
// tiered compiler runs a module on wazero's interpreter at first, and compiles
// it in the background when it is used often or for long ([Module.Ran]).
//
// [Compiler.Untrusted] is for third-party modules. A worker process, which is
// this same program, validates, initializes and compiles them within limits of
// time and memory. This process then loads the compiled code; it never compiles
// third-party code itself, and parses only modules that a worker parsed.
//
// The cache has one file for each module. A file that is damaged, or that
// another user could have changed, is deleted and made again.
package compile
