//go:build !linux

package compile

// programIdentity is empty where the program that runs cannot be told from one
// that replaced its file.
func programIdentity() string { return "" }
