// Package pack reads and writes packages of policies ("packs"): one file with the
// manifest, the module, a README and test cases. A pack is installed as one file
// under its SHA-256. moot.lock in a room's folder pins it.
//
// # The file
//
// A pack is a tar archive in gzip. It contains policy.json, policy.wasm,
// README.md and cases/NAME.yaml, in this order, and nothing else. It is not a
// zip file, because zip has two lists of the contents, and readers that use
// different lists see different packs. A pack is reproducible: the same folder
// gives the same bytes, without times, owners and paths. It is also canonical:
// [Read] encodes the decoded pack again and refuses the archive if the bytes
// differ. So padding, extended headers and a tail cannot hide data.
//
// # Trust
//
// A signature is a file next to the pack, in minisign's format. The user names
// the key at the first installation; moot.lock stores it. From then on
// [Lock.Admit] refuses another key, an older version, and other bytes under the
// same version; [Lock.Drop] removes the pin. Each use of a pack compares the
// SHA-256 of its bytes with the lock.
//
// Every refusal is a *problem.Error with a code POL-PACK-..., POL-LOCK,
// POL-MANIFEST or POL-ABI.
package pack
