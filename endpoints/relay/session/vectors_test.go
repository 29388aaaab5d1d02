package session

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flynn/noise"

	"github.com/folkmoot/moot/endpoints/relay/identity"
)

type hexBytes []byte

func (h *hexBytes) UnmarshalText(b []byte) (err error) {
	*h, err = hex.DecodeString(string(b))
	return err
}

func filled(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func secret(t *testing.T, b byte) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.X25519().NewPrivateKey(filled(b))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

type snowCase struct {
	Name     string   `json:"name"`
	Protocol string   `json:"protocol"`
	Message1 hexBytes `json:"message1"`
	Message2 hexBytes `json:"message2"`
	Hash     hexBytes `json:"hash"`
	DataOut  hexBytes `json:"data_out"`
	DataIn   hexBytes `json:"data_in"`
	CtlOut   hexBytes `json:"ctl_out"`
	CtlIn    hexBytes `json:"ctl_in"`
}

// configs returns the two sides with the fixed keys of testdata/snow.
func (c snowCase) configs(t *testing.T) (a, b noise.Config) {
	t.Helper()
	si, sr := secret(t, 0x11), secret(t, 0x22)
	idi, idr := identity.DeviceID(filled(0x66)), identity.DeviceID(filled(0x77))
	nki, nkr := [32]byte(si.PublicKey().Bytes()), [32]byte(sr.PublicKey().Bytes())
	if c.Name == "pair" {
		in := identity.Invite{ID: [16]byte(filled(0x88)), PSK: [32]byte(filled(0x55))}
		in.Host.ID, in.Host.NK = idr, nkr
		a, b = pairNoise(true, in, idi, si), pairNoise(false, in, idi, sr)
	} else {
		a = sessionNoise(true, idi, idr, si, nkr, filled(0x55))
		b = sessionNoise(false, idr, idi, sr, nki, filled(0x55))
	}
	a.Random, b.Random = bytes.NewReader(filled(0x33)), bytes.NewReader(filled(0x44))
	return a, b
}

// TestSnow compares handshakes, data frames and ctl frames byte for byte with
// an independent implementation of Noise, ChaCha20-Poly1305 and HKDF.
func TestSnow(t *testing.T) {
	b, err := os.ReadFile("testdata/noise-snow.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []snowCase
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) != 2 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t) })
	}
}

func (c snowCase) run(t *testing.T) {
	configA, configB := c.configs(t)
	if c.Protocol != protocolName(configA) {
		t.Errorf("protocol %s, want %s", protocolName(configA), c.Protocol)
	}
	o, err := newInitiator(configA, []byte("message one"))
	if err != nil || !bytes.Equal(o.message1, c.Message1) {
		t.Fatalf("message 1 is %x, %v", o.message1, err)
	}
	answer, err := newResponder(configB, c.Message1)
	if err != nil || string(answer.payload) != "message one" {
		t.Fatalf("reading message 1: %v", err)
	}
	reply, kb, err := answer.writeMessage2([]byte("message two"))
	if err != nil || !bytes.Equal(reply, c.Message2) || !bytes.Equal(answer.state.ChannelBinding(), c.Hash) {
		t.Fatalf("message 2 is %x, %v", reply, err)
	}
	payload, ka, err := o.readMessage2(c.Message2)
	if err != nil || string(payload) != "message two" || !bytes.Equal(ka.binding, kb.binding) {
		t.Fatalf("reading message 2: %q, %v", payload, err)
	}
	same := func(what string, got []byte, want hexBytes) {
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%x, want\n%x", what, got, want)
		}
	}
	same("data to the responder", ka.sealData(1, encodeData(typeMsg, []byte("from the initiator"))), c.DataOut)
	same("data to the initiator", kb.sealData(0x0102030405060708, encodeData(typeMsg, []byte("from the responder"))), c.DataIn)
	same("ctl to the responder", ka.sealCtl(typePing, 1), c.CtlOut)
	kb.ctrOut = 8
	same("ctl to the initiator", kb.sealCtl(typePong, 2), c.CtlIn)
	if plain, err := kb.openData(c.DataOut, 1); err != nil || !bytes.Equal(plain, encodeData(typeMsg, []byte("from the initiator"))) {
		t.Errorf("opening data: %v", err)
	}
	if typ, wanted, err := ka.openCtl(c.CtlIn, 9); err != nil || typ != typePong || wanted != 2 {
		t.Errorf("opening ctl: %d %d %v", typ, wanted, err)
	}
	if _, _, err := ka.openCtl(c.CtlIn, 9); err == nil {
		t.Error("a ctl frame was accepted twice")
	}
}

func protocolName(c noise.Config) string {
	modifier := "psk" + string(rune('0'+c.PresharedKeyPlacement))
	return "Noise_" + c.Pattern.Name + modifier + "_" + string(c.CipherSuite.Name())
}

// TestSnowIsRecorded regenerates the vectors. It needs cargo and snow's crates.
func TestSnowIsRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling Rust takes a minute; run without -short")
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		t.Skip("cargo is not installed; testdata/noise-snow.json holds the recorded output of snow")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache folder to compile in")
	}
	target := filepath.Join(cache, "moot-test", "snow") // kept, so that the next run does not compile
	cmd := exec.Command(cargo, "run", "--quiet", "--release", "--locked", "--manifest-path", "testdata/snow/Cargo.toml")
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target, "CARGO_NET_OFFLINE=true")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil && (strings.Contains(stderr.String(), "offline") || strings.Contains(stderr.String(), "failed to download")) {
		t.Skip("the crates are missing: run `cargo fetch --manifest-path endpoints/relay/session/testdata/snow/Cargo.toml`")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	want, err := os.ReadFile("testdata/noise-snow.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("snow's output differs: %s", got)
	}
}

// TestNoiseVectors checks the vectors of the cacophony set
// (github.com/haskell-cryptography/cacophony) for both protocols.
func TestNoiseVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/noise-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []noiseVector `json:"vectors"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, v := range file.Vectors {
		switch v.Protocol {
		case "Noise_KKpsk0_25519_ChaChaPoly_SHA256", "Noise_IKpsk1_25519_ChaChaPoly_SHA256":
			seen++
			t.Run(v.Protocol, v.run)
		}
	}
	if seen != 2 {
		t.Errorf("%d of the two protocols have vectors", seen)
	}
}

type noiseVector struct {
	Protocol         string     `json:"protocol_name"`
	InitPrologue     hexBytes   `json:"init_prologue"`
	InitPSKs         []hexBytes `json:"init_psks"`
	InitStatic       hexBytes   `json:"init_static"`
	InitEphemeral    hexBytes   `json:"init_ephemeral"`
	InitRemoteStatic hexBytes   `json:"init_remote_static"`
	RespStatic       hexBytes   `json:"resp_static"`
	RespEphemeral    hexBytes   `json:"resp_ephemeral"`
	RespRemoteStatic hexBytes   `json:"resp_remote_static"`
	Hash             hexBytes   `json:"handshake_hash"`
	Messages         []struct {
		Payload    hexBytes `json:"payload"`
		Ciphertext hexBytes `json:"ciphertext"`
	} `json:"messages"`
}

func (v noiseVector) side(t *testing.T, static, ephemeral, remote []byte, initiator bool) noise.Config {
	k, err := ecdh.X25519().NewPrivateKey(static)
	if err != nil {
		t.Fatal(err)
	}
	c := noise.Config{
		CipherSuite: cipherSuite, Pattern: noise.HandshakeKK, Initiator: initiator, Prologue: v.InitPrologue,
		PresharedKey: v.InitPSKs[0], StaticKeypair: dhKey(k), PeerStatic: remote, Random: bytes.NewReader(ephemeral),
	}
	if strings.Contains(v.Protocol, "IKpsk1") {
		c.Pattern, c.PresharedKeyPlacement = noise.HandshakeIK, 1
	}
	return c
}

func (v noiseVector) run(t *testing.T) {
	o, err := newInitiator(v.side(t, v.InitStatic, v.InitEphemeral, v.InitRemoteStatic, true), v.Messages[0].Payload)
	if err != nil || !bytes.Equal(o.message1, v.Messages[0].Ciphertext) {
		t.Fatalf("message 1: %x, %v", o.message1, err)
	}
	answer, err := newResponder(v.side(t, v.RespStatic, v.RespEphemeral, v.RespRemoteStatic, false), o.message1)
	if err != nil || !bytes.Equal(answer.payload, v.Messages[0].Payload) {
		t.Fatalf("reading message 1: %v", err)
	}
	reply, kb, err := answer.writeMessage2(v.Messages[1].Payload)
	if err != nil || !bytes.Equal(reply, v.Messages[1].Ciphertext) || !bytes.Equal(answer.state.ChannelBinding(), v.Hash) {
		t.Fatalf("message 2: %x, %v", reply, err)
	}
	_, ka, err := o.readMessage2(reply)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range v.Messages[2:] { // alternating, the initiator first
		from, to := ka, kb
		if i%2 == 1 {
			from, to = kb, ka
		}
		sealed := from.dataOut.Encrypt(nil, uint64(i/2), nil, m.Payload)
		plain, err := to.dataIn.Decrypt(nil, uint64(i/2), nil, sealed)
		if !bytes.Equal(sealed, m.Ciphertext) || err != nil || !bytes.Equal(plain, m.Payload) {
			t.Errorf("transport message %d: %x, %v", i, sealed, err)
		}
	}
}
