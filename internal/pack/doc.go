// Package pack reads and writes packages of policies ("packs"): one file with the
// manifest, the module, a README and test cases. A pack is installed as one file
// under its SHA-256. moot.lock in a room's folder pins it.
//
// # The file
//
// A pack is a tar archive in gzip: policy.json, policy.wasm, README.md and
// cases/NAME.yaml, in this order, nothing else. Tar rather than zip, because a
// zip file has two lists of its contents, and readers that believe different
// ones see different packs; everybody can look into it with tar. A pack is
// reproducible: the same folder gives the same bytes, without times, owners
// and paths. And it is canonical: [Read] writes what it has read once more and
// refuses the archive unless it is the same, so nothing can hide in padding,
// extended headers or behind the end.
//
// # Trust
//
// A signature is a file next to the pack, in minisign's format. The user names the
// key at the first installation; moot.lock stores it. Another key, an older
// version, or other bytes under the same version are refused from then on
// ([Lock.Admit]); [Lock.Drop] forgets. After that the SHA-256 is what counts:
// every time that a pack is used its bytes are compared with the lock.
//
// Every refusal is a *problem.Error with a code POL-PACK-..., POL-LOCK,
// POL-MANIFEST or POL-ABI.
package pack
