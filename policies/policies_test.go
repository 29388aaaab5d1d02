package policies

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestModuleHasItsDigest(t *testing.T) {
	t.Parallel()
	if err := Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyFindsFlippedByte(t *testing.T) {
	t.Parallel()
	b := bytes.Clone(Module())
	b[len(b)/2] ^= 1
	err := verify(b, Digest())
	var d *DigestError
	if !errors.As(err, &d) || !errors.Is(err, ErrDigest) || d.ErrorCode() != "POL-DIGEST" || !strings.Contains(err.Error(), Digest()) {
		t.Fatalf("got %v, want a DigestError that names %s", err, Digest())
	}
}

func TestDecompressDamaged(t *testing.T) {
	t.Parallel()
	for i := 10; i < len(compressed); i += len(compressed) / 7 {
		b := bytes.Clone(compressed)
		b[i] ^= 0x10
		if err := verify(decompress(b), Digest()); err == nil {
			t.Errorf("byte %d: the damage was not found", i)
		}
	}
	if decompress(nil) != nil || decompress(compressed[:100]) != nil {
		t.Error("a part of the file was decompressed")
	}
}

// generateCommand matches the build command of policies.go, so that the test
// runs the same command as go generate.
var generateCommand = regexp.MustCompile(`(?m)^//go:generate env (.*) go build (.*) "(-ldflags=[^"]*)" -o builtins.wasm (.*)$`)

// TestBuildIsReproducible builds the module again and compares every byte with
// the embedded one.
func TestBuildIsReproducible(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("building a module takes some seconds")
	}
	source, err := os.ReadFile("policies.go")
	if err != nil {
		t.Fatal(err)
	}
	m := generateCommand.FindSubmatch(source)
	if m == nil {
		t.Fatal("policies.go holds no go:generate line of the known shape")
	}
	out := filepath.Join(t.TempDir(), "again.wasm")
	args := append([]string{"build"}, strings.Fields(string(m[2]))...)
	cmd := exec.Command("go", append(args, string(m[3]), "-o", out, string(m[4]))...)
	cmd.Env = append(os.Environ(), strings.Fields(string(m[1]))...)
	if b, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(b, []byte("toolchain not available")) && os.Getenv("CI") != "true" {
			t.Skip("the pinned toolchain is not on this machine")
		}
		t.Fatalf("%v\n%s", err, b)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, Module()) {
		t.Error("the embedded module is not what its sources give; run: go generate ./policies")
	}
}
