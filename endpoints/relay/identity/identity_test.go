package identity

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/folkmoot/moot/endpoints/relay/frame"
	"github.com/folkmoot/moot/problem"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newDevice(t testing.TB) *Device {
	t.Helper()
	d, err := Generate(now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func code(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func TestDeviceID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := DeviceID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "id"))
		for _, text := range []string{id.String(), id.Display(), strings.ToUpper(id.Display()), strings.ReplaceAll(id.Display(), "-", " ")} {
			if got, err := ParseDeviceID(text); err != nil || got != id {
				t.Fatalf("%s: %v, %v", text, got, err)
			}
		}
		if len(id.String()) != 52 || len(id.Display()) != 63 || !strings.HasPrefix(id.String(), id.Short()) {
			t.Fatalf("%s %s", id, id.Display())
		}
	})
}

// TestDeviceIDTypingErrors: every single wrong character is detected, and the
// error names its group.
func TestDeviceIDTypingErrors(t *testing.T) {
	id := DeviceID(bytes.Repeat([]byte{0xa7, 0x13, 0x5c, 0x00}, 8))
	spoken := id.Display()
	swaps := 0
	for i := range len(spoken) {
		if spoken[i] == '-' {
			continue
		}
		for _, c := range alphabet {
			if byte(c) == spoken[i] {
				continue
			}
			wrong := spoken[:i] + string(c) + spoken[i+1:]
			_, err := ParseDeviceID(wrong)
			if !errors.Is(err, ErrDeviceID) {
				t.Fatalf("%s is taken for %s", wrong, spoken)
			}
			group := wrong[i/16*16 : min(len(wrong), i/16*16+15)]
			if !strings.Contains(err.Error(), group) {
				t.Fatalf("%v does not name %s", err, group)
			}
		}
		if i+1 < len(spoken) && spoken[i+1] != '-' && spoken[i] != spoken[i+1] {
			swapped := spoken[:i] + spoken[i+1:i+2] + spoken[i:i+1] + spoken[i+2:]
			if _, err := ParseDeviceID(swapped); err == nil {
				swaps++
			}
		}
	}
	if swaps > 1 {
		t.Errorf("%d swaps of neighbours go unnoticed", swaps)
	}
	readAs := strings.NewReplacer("o", "0", "i", "1", "b", "8").Replace(spoken)
	if got, err := ParseDeviceID(readAs); err != nil || got != id {
		t.Errorf("digits for letters: %v", err)
	}
	for _, bad := range []string{"", "abc", id.String() + "a", strings.Repeat("a", 1000), strings.Repeat("é", 26), id.String()[:51] + "b"} {
		if _, err := ParseDeviceID(bad); !errors.Is(err, ErrDeviceID) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLogin(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	challenge := [32]byte{1}
	sig := d.SignLogin("relay.example:8443", challenge, nil)
	text := append([]byte("moot-relay/1 login\x00relay.example:8443"), challenge[:]...)
	id := d.ID()
	if !ed25519.Verify(id[:], text, sig[:]) || !verifyLogin(id, "relay.example:8443", challenge, nil, sig) {
		t.Error("the signed bytes differ from the documentation")
	}
	for name, ok := range map[string]bool{
		"another host":      verifyLogin(id, "relay.example", challenge, nil, sig),
		"another challenge": verifyLogin(id, "relay.example:8443", [32]byte{2}, nil, sig),
		"another device":    verifyLogin(other.ID(), "relay.example:8443", challenge, nil, sig),
		"another TLS":       verifyLogin(id, "relay.example:8443", challenge, []byte("exporter"), sig),
	} {
		if ok {
			t.Errorf("a login works for %s", name)
		}
	}
	if sig := d.SignLogin("h", challenge, []byte("exporter")); !verifyLogin(id, "h", challenge, []byte("exporter"), sig) {
		t.Error("a login bound to TLS is refused")
	}
}

func TestKeyRecord(t *testing.T) {
	d := newDevice(t)
	r := d.Record()
	got, err := DecodeRecord(r.Encode())
	if err != nil || got != r || got.Check(now) != nil {
		t.Fatalf("%+v %v", got, err)
	}
	if err := r.Check(r.NotAfter.Add(time.Second)); !errors.Is(err, ErrRecordExpired) {
		t.Errorf("expired: %v", err)
	}
	b := r.Encode()
	for bit := range 8 * len(b) {
		wrong := bytes.Clone(b)
		wrong[bit/8] ^= 1 << (bit % 8)
		if r, err := DecodeRecord(wrong); err == nil && r.Check(now) == nil {
			t.Fatalf("a change of bit %d is not detected", bit)
		}
	}
	old := r
	if err := d.Rotate(now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Static(old.NK); !ok || d.Record().NK == old.NK || d.Record().ID != old.ID {
		t.Error("the previous key is missing, or was not replaced")
	}
	if _, ok := d.Static([32]byte{1}); ok {
		t.Error("Static returns an unknown key")
	}
}

func TestKeyFile(t *testing.T) {
	for _, passphrase := range []string{"", "correct horse"} {
		path := filepath.Join(t.TempDir(), "deep", "device.json")
		d, err := LoadOrGenerate(path, []byte(passphrase), now)
		if err != nil {
			t.Fatal(err)
		}
		again, err := LoadOrGenerate(path, []byte(passphrase), now)
		if err != nil || again.Record() != d.Record() || again.ID() != d.ID() {
			t.Fatalf("another device the second time: %v", err)
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		b, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(b), `"idk"`) == (passphrase != "") {
			t.Errorf("sealed or not: %s", b)
		}
		for _, wrong := range []string{"", "wrong"} {
			if _, err := Load(path, []byte(wrong)); passphrase != "" && (!errors.Is(err, ErrPassphrase) || code(err) != "RELAY-PASSPHRASE") {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	}
}

func TestKeyFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	path := filepath.Join(t.TempDir(), "device.json")
	if _, err := LoadOrGenerate(path, nil, now); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o660, 0o666, 0o601, 0o610} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrGenerate(path, nil, now)
		if code(err) != "RELAY-FILE-MODE" || !strings.Contains(err.(*problem.Error).Fix, "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %o was changed: %v %v", mode, info.Mode(), err)
		}
	}
	dir := t.TempDir()
	if _, err := Load(dir, nil); code(err) != "RELAY-FILE-MODE" {
		t.Errorf("a folder: %v", err)
	}
}

func TestDamagedKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.json")
	d := newDevice(t)
	good, err := encodeKeyFile(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty":       {},
		"cut off":     good[:len(good)/2],
		"two":         append(bytes.Clone(good), good...),
		"other key":   bytes.Replace(good, []byte(`"idk"`), []byte(`"IDK"`), 1),
		"short key":   []byte(`{"v":1,"keys":{"idk":"AAAA","nk":"AAAA","not_after":1}}`),
		"version":     bytes.Replace(good, []byte(`"v": 1`), []byte(`"v": 2`), 1),
		"no keys":     []byte(`{"v":1}`),
		"a huge kdf":  []byte(`{"v":1,"sealed":{"kdf":"argon2id","time":4000000000,"memory_kib":4000000000,"threads":255,"salt":"","nonce":"","box":""}}`),
		"another kdf": []byte(`{"v":1,"sealed":{"kdf":"md5","time":1,"memory_kib":1,"threads":1,"salt":"","nonce":"","box":""}}`),
		"too large":   make([]byte, maxFile+1),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrGenerate(path, []byte("p"), now); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, b) {
			t.Errorf("%s: a damaged file was overwritten", name)
		}
	}
}

// TestKeyIsReplacedInTime: a session key is replaced a month before it expires,
// so that peers learn of the next one.
func TestKeyIsReplacedInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.json")
	d, err := LoadOrGenerate(path, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	later, err := LoadOrGenerate(path, nil, now.Add(RecordLife-31*24*time.Hour))
	if err != nil || later.Record().NK == d.Record().NK || later.ID() != d.ID() {
		t.Fatalf("not replaced: %v", err)
	}
	if _, ok := later.Static(d.Record().NK); !ok {
		t.Error("the previous key is missing")
	}
	same, err := Load(path, nil)
	if err != nil || same.Record() != later.Record() {
		t.Error("not saved")
	}
}

// TestTwoStartTogether: processes that start concurrently get the same keys.
func TestTwoStartTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.json")
	ids := make([]DeviceID, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			if d, err := LoadOrGenerate(path, nil, now); err == nil {
				ids[i] = d.ID()
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || id == (DeviceID{}) {
			t.Fatalf("several devices: %v", ids)
		}
	}
}

func FuzzKeyFile(f *testing.F) {
	b, err := encodeKeyFile(newDevice(f), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"v":1,"sealed":{"kdf":"argon2id","time":1,"memory_kib":8,"threads":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==","nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","box":""}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decodeKeyFile(b, nil) // no passphrase, so no time is spent in argon2
		if err != nil {
			return
		}
		again, err := encodeKeyFile(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := decodeKeyFile(again, nil); err != nil || second.Record() != d.Record() {
			t.Fatal(err)
		}
	})
}

func FuzzDeviceID(f *testing.F) {
	f.Add(DeviceID{1, 2, 3}.Display())
	f.Add(DeviceID{}.String())
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseDeviceID(s); err == nil {
			if again, err := ParseDeviceID(id.Display()); err != nil || again != id {
				t.Fatal(err)
			}
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(newDevice(f).Record().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRecord(b); err == nil && !bytes.Equal(r.Encode(), b) {
			t.Fatalf("%+v", r)
		}
	})
}

// verifyLogin reports whether sig is the signature of id for this login.
func verifyLogin(id DeviceID, host string, challenge [32]byte, exporter []byte, sig [ed25519.SignatureSize]byte) bool {
	return ed25519.Verify(id[:], frame.LoginMessage(host, challenge[:], exporter), sig[:])
}
