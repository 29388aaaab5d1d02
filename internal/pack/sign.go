package pack

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"aead.dev/minisign"
)

// SignatureExtension is appended to the file name of a pack to name the file
// of its signature.
const SignatureExtension = ".minisig"

// maxSignature is the largest signature file that is read, in bytes. A trusted
// comment takes most of it.
const maxSignature = 4 << 10

var (
	errSignatureForm = errors.New("the signature is not in minisign's format")
	errSignature     = errors.New("the signature does not match the content and the trusted comment")
)

// Sign returns a signature file of content. The comment is part of what is
// signed. It is one line.
func Sign(key SecretKey, content []byte, comment string) ([]byte, error) {
	if strings.ContainsAny(comment, "\r\n") || len(comment) > maxSignature/4 {
		return nil, fmt.Errorf("the trusted comment is one line of at most %d bytes", maxSignature/4)
	}
	r, err := hashed(content)
	if err != nil {
		return nil, err
	}
	return r.SignWithComments(key, comment, fmt.Sprintf("signature from minisign secret key %016X", key.ID())), nil
}

// Verify checks that signature, the content of a signature file, is of the
// pack in file and was made with key. Where names the pack in errors, which
// are POL-PACK-KEY and POL-PACK-SIGNATURE.
func Verify(where string, file, signature []byte, key PublicKey) error {
	s, err := parseSignature(signature)
	switch {
	case err == nil && s.KeyID != key.ID():
		return refuse("POL-PACK-KEY", where, "ask its author; name the right key with --key",
			"is signed with another key: %016X, not %016X", s.KeyID, key.ID())
	case err == nil && !minisign.Verify(key, file, signature):
		err = errSignature
	}
	if err != nil {
		return refuse("POL-PACK-SIGNATURE", where, "get the pack and its signature from its author again", "%v", err)
	}
	return nil
}

// parseSignature reads a signature file. It accepts the only form that
// minisign has written by default since 2022: over the BLAKE2b-512 of the
// content, in canonical base64, with nothing before or after.
func parseSignature(file []byte) (s minisign.Signature, err error) {
	if len(file) > maxSignature || s.UnmarshalText(file) != nil || s.Algorithm != minisign.HashEdDSA {
		return s, errSignatureForm
	}
	canonical := bytes.TrimSuffix(bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")), []byte("\n"))
	if s.String() != string(canonical)+"\n" {
		return s, errSignatureForm
	}
	return s, nil
}

// hashed returns a reader that has hashed content.
func hashed(content []byte) (*minisign.Reader, error) {
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := bytes.NewBuffer(nil).ReadFrom(r); err != nil {
		return nil, fmt.Errorf("hashing: %w", err)
	}
	return r, nil
}
