// Package compile makes modules of policies ready to run: it validates them,
// takes their initial snapshots, and compiles them. It keeps both results on
// disk, in the compile cache.
//
// [Compiler.Trusted] is for built-in modules. It compiles in this process. A
// tiered compiler runs a module on wazero's interpreter at first, and compiles
// it in the background when it is used often or for long ([Module.Ran]).
//
// [Compiler.Untrusted] is for third-party modules. A child process, which is
// this same program, compiles them within limits of time and memory. This
// process then loads the compiled code from the cache; it never compiles
// third-party code itself.
//
// The cache has four folders: wazero-VERSION has compiled code, images has
// initial snapshots, compiled tells which code belongs to which module, and
// known has what child processes prepared.
package compile
