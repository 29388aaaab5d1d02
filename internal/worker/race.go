//go:build race

package worker

// memoryFactor multiplies the limit of memory in a program with the race
// detector, whose shadow of the memory counts too.
const memoryFactor = 16
