//go:build !unix

package identity

// lockFile does nothing on systems without flock. Two processes that change a
// file at the same moment may lose one change, but never damage the file.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }
