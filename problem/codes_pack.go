package problem

// packCodes are about what of a policy travels: manifests, packs, keys, locks.
var packCodes = []Meaning{
	{"POL-ABI", input, "The policy was built for another version of the policy ABI.", "Build it for ABI 1, or use a moot that speaks its ABI."},
	{"POL-KEY", input, "A key cannot be read or written, is none, or is open to others.", "Keys are minisign's: `moot policy pack --new-key FILE` writes a pair; a secret key has mode 0600."},
	{"POL-LOCK", input, "moot.lock cannot be read or written, or is not one.", "Restore it from version control, or remove it and install the policies again."},
	{"POL-MANIFEST", input, "policy.json is not a manifest. It holds name, version and abi, and may hold description, author, license, wasm, sha256, config_schema, default_config, input {history_events, max_text_bytes, needs_text, bids}, limits {fuel, memory_pages} and min_host.", "Keys are in lower case, each once; unknown ones are refused."},
	{"POL-PACK-CHANGED", input, "The pack has other bytes than the ones that are locked for the same version.", "Ask its author: a version is published once. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-DIGEST", input, "A SHA-256 is not the one that was promised: of the pack, or of the module or the manifest in it.", "Get the pack from its author again."},
	{"POL-PACK-FORM", input, "The file is not a pack, is damaged, or was not written by `moot policy pack`.", "Get it from its author again."},
	{"POL-PACK-KEY", input, "The pack is signed with another key than is wanted, or with none where one is locked.", "Ask its author; name the right key with --key. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-NAME", input, "The pack holds a file that a pack does not hold: a link, an absolute name, one that leads out of its folder, one that is there twice or differs in case only, or another file than policy.json, policy.wasm, README.md and cases/NAME.yaml.", "Do not use it: `moot policy pack` never writes this."},
	{"POL-PACK-NONE", input, "The pack is not in the data folder.", "`moot policy install PACK` brings it there; --data names another folder."},
	{"POL-PACK-OLDER", input, "The pack is older than the version that is locked.", "Install the locked version or a newer one. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-SIGNATURE", input, "The signature is not of the pack, or is none.", "Get the pack and its signature from its author again."},
	{"POL-PACK-SIZE", input, "The pack is over 2 MiB, unpacks to over 8 MiB or to over 20 times its size, or holds over 32 files.", "Have its author make it smaller."},
	{"POL-PACK-UNSIGNED", input, "The pack is not signed.", "Get the signature, the file PACK.minisig, from its author, or take it as it is with --unsigned."},
	{"POL-STORE", failure, "The folder of installed policies cannot be read or written.", "Choose a data folder that can be written: --data."},
}
