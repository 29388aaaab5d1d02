// Command embed compresses a built module for embedding. It writes FILE.gz and
// the SHA-256 of FILE in hex, and removes FILE. The same input always gives the
// same output with the same Go release.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	module, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(module)
	sum := fmt.Appendf(nil, "%x\n", sha256.Sum256(module))
	return errors.Join(err, z.Close(), os.WriteFile(file+".gz", out.Bytes(), 0o644),
		os.WriteFile(strings.TrimSuffix(file, ".wasm")+".sha256", sum, 0o644), os.Remove(file))
}
