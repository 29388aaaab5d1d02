//go:build !unix

package identity

// lockFile does nothing where there is no flock: two processes that change
// one file at the same moment may lose one of the changes, never the file.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }
