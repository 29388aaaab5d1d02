// Package guest is what a policy's module meets in the sandbox: the ABI that
// it must have, the functions that it may import, the environment in which
// they act, and the errors that it is refused with.
//
// [Validate] checks a module and rewrites it. [OpenRuntime] makes an engine
// that has the host functions. Every call into a module gets an [Env] in its
// context: a clock, a random stream and a log that follow from the input
// alone. So the same input always gives the same answer.
package guest
