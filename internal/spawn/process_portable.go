//go:build !linux

package spawn

func holdThread() (release func()) { return func() {} }

// awaitExit cannot wait without reaping the child, so it does not wait.
func awaitExit(int) bool { return false }

// sealDescriptors does nothing: Go seals the descriptors that it opens.
func sealDescriptors() {}
