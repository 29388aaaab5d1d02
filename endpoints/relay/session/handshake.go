package session

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/flynn/noise"

	"github.com/folkmoot/moot/endpoints/relay/identity"
	"github.com/folkmoot/moot/internal/strict"
)

var cipherSuite = noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashSHA256)

const (
	pairContext    = "moot-e2e/1 pair\x00"
	sessionContext = "moot-e2e/1 session\x00"
	ctlContext     = "moot-e2e/1 ctl"
	tagContext     = "moot-e2e/1 tag\x00"
)

var errHandshake = errors.New("the handshake message does not decrypt")

func pairPrologue(invite [16]byte, host, joiner identity.DeviceID) []byte {
	return bytes.Join([][]byte{[]byte(pairContext), invite[:], host[:], joiner[:]}, nil)
}

func sessionPrologue(initiator, responder identity.DeviceID) []byte {
	return bytes.Join([][]byte{[]byte(sessionContext), initiator[:], responder[:]}, nil)
}

func dhKey(k *ecdh.PrivateKey) noise.DHKey {
	return noise.DHKey{Private: k.Bytes(), Public: k.PublicKey().Bytes()}
}

// pairNoise configures Noise_IKpsk1: the joiner knows the host's key from the
// invite. The host does not know the joiner's key.
func pairNoise(initiator bool, in identity.Invite, joiner identity.DeviceID, static *ecdh.PrivateKey) noise.Config {
	c := noise.Config{
		CipherSuite: cipherSuite, Pattern: noise.HandshakeIK, Initiator: initiator,
		Prologue:     pairPrologue(in.ID, in.Host.ID, joiner),
		PresharedKey: in.PSK[:], PresharedKeyPlacement: 1, Random: rand.Reader,
		StaticKeypair: dhKey(static),
	}
	if initiator {
		c.PeerStatic = in.Host.NK[:]
	}
	return c
}

// sessionNoise configures Noise_KKpsk0: both sides know each other's keys and a
// shared secret.
func sessionNoise(initiator bool, self, peer identity.DeviceID, static *ecdh.PrivateKey, nk [32]byte, psk []byte) noise.Config {
	from, to := self, peer
	if !initiator {
		from, to = peer, self
	}
	return noise.Config{
		CipherSuite: cipherSuite, Pattern: noise.HandshakeKK, Initiator: initiator,
		Prologue:     sessionPrologue(from, to),
		PresharedKey: psk, PresharedKeyPlacement: 0, Random: rand.Reader,
		StaticKeypair: dhKey(static), PeerStatic: nk[:],
	}
}

// An initiator is the initiator's side between message 1 and message 2. Package
// noise leaves its state damaged after some invalid messages 2, for example
// with an all-zero key, which anyone on the path can send. So the state is
// rebuilt from the ephemeral key after each failure.
type initiator struct {
	config    noise.Config
	ephemeral []byte
	payload   []byte
	message1  []byte
	state     *noise.HandshakeState
}

func newInitiator(c noise.Config, payload []byte) (*initiator, error) {
	i := &initiator{config: c, payload: payload, ephemeral: make([]byte, 32)}
	if _, err := io.ReadFull(c.Random, i.ephemeral); err != nil {
		return nil, err
	}
	return i, i.writeMessage1()
}

func (i *initiator) writeMessage1() (err error) {
	i.config.Random = bytes.NewReader(i.ephemeral)
	if i.state, err = noise.NewHandshakeState(i.config); err != nil {
		return fmt.Errorf("starting a handshake: %w", err)
	}
	if i.message1, _, _, err = i.state.WriteMessage(nil, i.payload); err != nil {
		return fmt.Errorf("writing a handshake: %w", err)
	}
	return nil
}

// readMessage2 reads message 2. After an error the initiator still accepts the
// correct message.
func (i *initiator) readMessage2(message []byte) (payload []byte, k *keys, err error) {
	payload, out, in, err := i.state.ReadMessage(nil, message)
	if err != nil {
		return nil, nil, errors.Join(errHandshake, i.writeMessage1())
	}
	k, err = newKeys(out, in, i.state.ChannelBinding())
	return payload, k, err
}

// A responder is the responder's side after message 1 has decrypted.
type responder struct {
	state   *noise.HandshakeState
	payload []byte // of message 1
	static  [32]byte
}

func newResponder(c noise.Config, message []byte) (*responder, error) {
	state, err := noise.NewHandshakeState(c)
	if err != nil {
		return nil, err
	}
	payload, _, _, err := state.ReadMessage(nil, message)
	if err != nil {
		return nil, errHandshake
	}
	return &responder{state: state, payload: payload, static: [32]byte(state.PeerStatic())}, nil
}

// writeMessage2 completes the handshake on the responder's side.
func (r *responder) writeMessage2(payload []byte) (message []byte, k *keys, err error) {
	message, in, out, err := r.state.WriteMessage(nil, payload)
	if err != nil {
		return nil, nil, fmt.Errorf("answering a handshake: %w", err)
	}
	k, err = newKeys(out, in, r.state.ChannelBinding())
	return message, k, err
}

// keys are the result of one handshake: one key per direction for data, one per
// direction for ctl, and the tag that names them in frames.
type keys struct {
	tag                             tag
	dataOut, dataIn                 noise.Cipher
	ctlOut, ctlIn                   noise.Cipher
	dataFingerprint, ctlFingerprint [32]byte // SHA-256 of the encryption keys, for the nonce audit of tests
	binding                         []byte   // hash of both handshake messages

	ctrOut uint64 // last counter sent
	ctrIn  uint64 // last counter accepted
	frames uint64 // data frames of both directions
}

func newKeys(out, in *noise.CipherState, binding []byte) (*keys, error) {
	ctlOut, err := ctlKey(out)
	if err != nil {
		return nil, err
	}
	ctlIn, err := ctlKey(in)
	if err != nil {
		return nil, err
	}
	dataKey := out.UnsafeKey()
	sum := sha256.Sum256(append([]byte(tagContext), binding...))
	return &keys{
		tag: tag(sum[:4]), binding: bytes.Clone(binding),
		dataFingerprint: sha256.Sum256(dataKey[:]), ctlFingerprint: sha256.Sum256(ctlOut[:]),
		dataOut: out.Cipher(), dataIn: in.Cipher(),
		ctlOut: cipherSuite.Cipher(ctlOut), ctlIn: cipherSuite.Cipher(ctlIn),
	}, nil
}

func ctlKey(c *noise.CipherState) (key [32]byte, err error) {
	split := c.UnsafeKey()
	b, err := hkdf.Key(sha256.New, split[:], nil, ctlContext, len(key))
	if err != nil {
		return key, fmt.Errorf("deriving the ctl key: %w", err)
	}
	return [32]byte(b), nil
}

func (k *keys) sealData(seq uint64, plain []byte) []byte {
	k.frames++
	h := header{kindData, k.tag, seq}.encode()
	return k.dataOut.Encrypt(h, seq, h[:headerSize:headerSize], plain)
}

func (k *keys) openData(payload []byte, seq uint64) ([]byte, error) {
	plain, err := k.dataIn.Decrypt(nil, seq, payload[:headerSize], payload[headerSize:])
	if err == nil {
		k.frames++
	}
	return plain, err
}

func (k *keys) sealCtl(typ byte, wanted uint64) []byte {
	k.ctrOut++
	h := header{kindCtl, k.tag, k.ctrOut}.encode()
	return k.ctlOut.Encrypt(h, k.ctrOut, h[:headerSize:headerSize], encodeCtl(typ, wanted))
}

// openCtl decrypts a ctl frame. It accepts each counter once, and only if it is
// higher than all accepted before.
func (k *keys) openCtl(payload []byte, ctr uint64) (typ byte, wanted uint64, err error) {
	if ctr <= k.ctrIn {
		return 0, 0, errFrame
	}
	plain, err := k.ctlIn.Decrypt(nil, ctr, payload[:headerSize], payload[headerSize:])
	if err != nil {
		return 0, 0, err
	}
	k.ctrIn = ctr
	return decodeCtl(plain)
}

const (
	version      = 1
	helloDepth   = 3
	helloSize    = 1_024 // payloads of handshakes are padded to a multiple of it
	maxHelloSize = 4_096
	streamIDSize = 8
)

// A streamID identifies the frames that one Session has sent since it was
// created or reset. If each side knows the other's stream, both continue after
// a key change. Otherwise both start with frame 1.
type streamID [streamIDSize]byte

// MarshalText writes the id in hexadecimal.
func (s streamID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads the form of MarshalText.
func (s *streamID) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return errFrame
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// hello is the payload of both handshake messages of a session.
type hello struct {
	V      int                 `json:"v"`
	Limits limits              `json:"limits"`
	Stream streamID            `json:"stream"`
	Knows  *streamID           `json:"knows,omitempty"`  // the peer's stream, if known
	Record *identity.KeyRecord `json:"record,omitempty"` // sent if the peer may not have it
}

type limits struct {
	Message int `json:"message"` // bytes
	Window  int `json:"window"`  // frames
}

func ownLimits() limits { return limits{Message: MaxMessage, Window: windowFrames} }

func (h hello) encode() ([]byte, error) { return padded(h) }

// continues reports whether the sender of h knows the stream of other.
func (h hello) continues(other hello) bool { return h.Knows != nil && *h.Knows == other.Stream }

func decodeHello(b []byte) (h hello, err error) {
	if err := decodePadded(b, &h); err != nil {
		return h, err
	}
	if h.V != version {
		return h, fmt.Errorf("version %d is not supported", h.V)
	}
	if h.Limits.Message < 1 || h.Limits.Window < 1 {
		return h, errors.New("limits below 1")
	}
	return h, nil
}

// padded encodes v as JSON and pads it with spaces, so that the size of a
// handshake does not reveal the length of names.
func padded(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if n := len(b) % helloSize; n != 0 {
		b = append(b, bytes.Repeat([]byte{' '}, helloSize-n)...)
	}
	if len(b) > maxHelloSize {
		return nil, fmt.Errorf("payload over %d bytes", maxHelloSize)
	}
	return b, nil
}

func decodePadded(b []byte, v any) error {
	if len(b) > maxHelloSize {
		return errFrame
	}
	return strict.Decode(b, helloDepth, v)
}
