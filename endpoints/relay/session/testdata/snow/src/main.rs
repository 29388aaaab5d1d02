// Writes noise-snow.json: what the Rust crate snow makes of our two handshakes,
// and what RustCrypto makes of our data and ctl frames, all from fixed keys.
//
//     cargo run --release > ../noise-snow.json
use chacha20poly1305::{aead::{Aead, KeyInit, Payload}, ChaCha20Poly1305};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use snow::{Builder, HandshakeState};

fn public(secret: &[u8; 32]) -> [u8; 32] {
    x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(*secret)).to_bytes()
}

fn seal(key: &[u8], number: u64, header: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut nonce = [0u8; 12];
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    ChaCha20Poly1305::new(key.into()).encrypt((&nonce).into(), Payload { msg: plain, aad: header }).unwrap()
}

fn frame(kind: u8, tag: &[u8], number: u64, key: &[u8], plain: &[u8]) -> String {
    let mut b = vec![kind];
    b.extend_from_slice(tag);
    b.extend_from_slice(&number.to_be_bytes());
    let sealed = seal(key, number, &b.clone(), plain);
    b.extend(sealed);
    hex::encode(b)
}

fn data(text: &[u8]) -> Vec<u8> {
    let mut b = vec![1u8];
    b.extend_from_slice(&(text.len() as u32).to_be_bytes());
    b.extend_from_slice(text);
    b.resize(256, 0);
    b
}

fn ctl(kind: u8, wanted: u64) -> Vec<u8> {
    let mut b = vec![kind];
    b.extend_from_slice(&wanted.to_be_bytes());
    b.resize(64, 0);
    b
}

fn ctl_key(split: &[u8]) -> [u8; 32] {
    let mut key = [0u8; 32];
    Hkdf::<Sha256>::new(None, split).expand(b"moot-e2e/1 ctl", &mut key).unwrap();
    key
}

struct Case { name: &'static str, protocol: &'static str, psk_at: u8, prologue: Vec<u8>, know_initiator: bool }

fn state(c: &Case, initiator: bool, s: &[u8; 32], e: &[u8; 32], other: &[u8; 32], psk: &[u8; 32]) -> HandshakeState {
    let mut b = Builder::new(c.protocol.parse().unwrap())
        .local_private_key(s)
        .fixed_ephemeral_key_for_testing_only(e)
        .prologue(&c.prologue)
        .psk(c.psk_at, psk);
    if initiator || c.know_initiator {
        b = b.remote_public_key(other);
    }
    if initiator { b.build_initiator().unwrap() } else { b.build_responder().unwrap() }
}

fn main() {
    let (si, sr, ei, er, psk) = ([0x11u8; 32], [0x22u8; 32], [0x33u8; 32], [0x44u8; 32], [0x55u8; 32]);
    let (idi, idr, invite) = ([0x66u8; 32], [0x77u8; 32], [0x88u8; 16]);
    let pair = [b"moot-e2e/1 pair\0".as_slice(), &invite, &idr, &idi].concat();
    let session = [b"moot-e2e/1 session\0".as_slice(), &idi, &idr].concat();
    let cases = [
        Case { name: "pair", protocol: "Noise_IKpsk1_25519_ChaChaPoly_SHA256", psk_at: 1, prologue: pair, know_initiator: false },
        Case { name: "session", protocol: "Noise_KKpsk0_25519_ChaChaPoly_SHA256", psk_at: 0, prologue: session, know_initiator: true },
    ];
    println!("[");
    for (i, c) in cases.iter().enumerate() {
        let mut a = state(c, true, &si, &ei, &public(&sr), &psk);
        let mut b = state(c, false, &sr, &er, &public(&si), &psk);
        let (mut m1, mut m2, mut buf) = (vec![0u8; 65535], vec![0u8; 65535], vec![0u8; 65535]);
        let n = a.write_message(b"message one", &mut m1).unwrap(); m1.truncate(n);
        b.read_message(&m1, &mut buf).unwrap();
        let n = b.write_message(b"message two", &mut m2).unwrap(); m2.truncate(n);
        a.read_message(&m2, &mut buf).unwrap();
        let hash = a.get_handshake_hash().to_vec();
        assert_eq!(hash, b.get_handshake_hash());
        let tag = &Sha256::digest([b"moot-e2e/1 tag\0".as_slice(), &hash].concat())[..4];
        let (k1, k2) = a.dangerously_get_raw_split();
        println!(" {{");
        println!("  \"name\": \"{}\", \"protocol\": \"{}\",", c.name, c.protocol);
        println!("  \"message1\": \"{}\",", hex::encode(&m1));
        println!("  \"message2\": \"{}\",", hex::encode(&m2));
        println!("  \"hash\": \"{}\",", hex::encode(&hash));
        println!("  \"data_out\": \"{}\",", frame(5, tag, 1, &k1, &data(b"from the initiator")));
        println!("  \"data_in\": \"{}\",", frame(5, tag, 0x0102030405060708, &k2, &data(b"from the responder")));
        println!("  \"ctl_out\": \"{}\",", frame(7, tag, 1, &ctl_key(&k1), &ctl(2, 1)));
        println!("  \"ctl_in\": \"{}\"", frame(7, tag, 9, &ctl_key(&k2), &ctl(3, 2)));
        println!(" }}{}", if i == 0 { "," } else { "" });
    }
    println!("]");
}
