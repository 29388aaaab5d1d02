//go:build !race

package worker

// memoryFactor multiplies the limit of memory.
const memoryFactor = 1
