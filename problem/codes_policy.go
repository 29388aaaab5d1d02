package problem

// sandboxCodes are about running policies. load.* codes refuse a policy before
// it runs. run.* codes report a failed decision, which pauses the room.
var sandboxCodes = []Meaning{
	{"POL-LEARN", input, "`moot policy learn` found nothing to learn from, or cannot write its result.", "Give transcripts of teams of three or more. --out names the file."},
	{"POL-LEARN-CHANCE", input, "`moot policy learn` wrote no settings, because the transcripts do not show that they help.", "Give more transcripts of the same team, or write the settings nevertheless with --force."},
	{"POL-DIGEST", input, "The embedded policies differ from the ones that were built.", "Install moot again from a trusted source. After a change of the sources run `go generate ./policies`."},
	{"load.abi", input, "The module is not a room policy, or uses another ABI.", "Export roompolicy_abi_1, or rebuild with the SDK of this release."},
	{"load.cache", failure, "The cache of compiled policies cannot be used.", "Set MOOT_CACHE to a writable folder."},
	{"load.closed", failure, "The sandbox is closed.", ""},
	{"load.compile", input, "The module could not be compiled within the limits.", "Make it smaller: fewer and shorter functions."},
	{"load.configure", input, "The policy refused its settings.", "`moot policy inspect NAME` prints the allowed settings."},
	{"load.digest", input, "The module differs from the approved one.", "Fetch it again, or approve the new digest."},
	{"load.features", input, "The module uses a WebAssembly feature that the sandbox does not support.", "Build it without threads, SIMD, exceptions and memory64."},
	{"load.imports", input, "The module imports functions that the sandbox does not offer: files, the network, a clock.", "Build it with an SDK of Folkmoot, which needs none of them."},
	{"load.init", input, "The module failed during its initialisation.", "Report it to the policy's author."},
	{"load.limits", input, "The module or its settings exceed a structural limit.", "`moot policy check FILE` names the limit."},
	{"load.malformed", input, "The file is not a valid WebAssembly module.", "Build it again."},
	{"load.signature", input, "An export has another type than the ABI requires.", "docs/policies.md lists the exports with their types."},
	{"load.untrusted", input, "Modules of others cannot be loaded here.", "Use a built-in policy. `moot policy ls` lists them."},
	{"run.audit", policy, "A reused instance and a new one answered differently.", "Report it to the policy's author, with the saved input."},
	{"run.bad_choice", policy, "The policy chose a participant that is not eligible now.", "The policy's author must choose one of the eligible agents."},
	{"run.bad_output", policy, "The policy's answer is not a decision.", "The policy's author must answer as described in docs/policies.md."},
	{"run.error", policy, "The policy failed.", "Report it to the policy's author, with the saved input."},
	{"run.hints", policy, "The policy gave hints without permission.", "Set policy.hints: true in room.yaml to allow them."},
	{"run.memory", policy, "The policy could not store its input.", "It needs more memory than its manifest requests."},
	{"run.out_of_fuel", policy, "The policy used up its fuel, or third-party code used the processor for 100 ms.", "`moot policy bench` shows the cost of a decision."},
	{"run.refused", policy, "The policy reports that it cannot decide.", "Its message states the reason."},
	{"run.stack_depth", policy, "The policy's calls were nested too deeply.", "Report it to the policy's author, with the saved input."},
	{"run.state_too_big", policy, "The state that the policy returned is larger than 64 KiB.", "The policy's author must keep less."},
	{"run.trap", policy, "The policy's module failed.", "Report it to the policy's author, with the saved input."},
}

// packCodes are about manifests, packages, keys and lock files of policies.
var packCodes = []Meaning{
	{"POL-ABI", input, "The policy was built for another version of the policy ABI.", "Build it for ABI 1, or use a moot that supports its ABI."},
	{"POL-KEY", input, "A key file cannot be read or written, is not a key, or can be read by others.", "Keys have minisign's format: `moot policy pack --new-key FILE` writes a pair. A secret key has mode 0600."},
	{"POL-LOCK", input, "moot.lock cannot be read or written, or is not a lock file.", "Restore it from version control, or remove it and install the policies again."},
	{"POL-MANIFEST", input, "policy.json is not a manifest. It holds name, version and abi, and may hold description, author, license, wasm, sha256, config_schema, default_config, input {history_events, max_text_bytes, needs_text, bids}, limits {fuel, memory_pages} and min_host.", "Keys are in lower case and occur once. Unknown keys are refused."},
	{"POL-PACK-CHANGED", input, "The package differs from the one that is locked for the same version.", "Ask its author: a version is published once. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-DIGEST", input, "A SHA-256 does not match: of the package, or of the module or manifest in it.", "Get the package from its author again."},
	{"POL-PACK-FORM", input, "The file is not a package, is damaged, or was not written by `moot policy pack`.", "Get it from its author again."},
	{"POL-PACK-KEY", input, "The package is signed with another key than required, or is not signed although a key is locked.", "Ask its author, and name the right key with --key. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-NAME", input, "The package holds a file that is not allowed: a link, an absolute path, a path out of its folder, two files whose names differ in case only, or another file than policy.json, policy.wasm, README.md and cases/NAME.yaml.", "Do not use it: `moot policy pack` never writes this."},
	{"POL-PACK-NONE", input, "The package is not in the data folder.", "`moot policy install PACK` installs it. --data names another folder."},
	{"POL-PACK-OLDER", input, "The package is older than the locked version.", "Install the locked version or a newer one. `moot policy rm NAME` forgets the old one."},
	{"POL-PACK-SIGNATURE", input, "The signature does not belong to the package, or is not a signature.", "Get the package and its signature from its author again."},
	{"POL-PACK-SIZE", input, "The package is larger than 2 MiB, unpacks to more than 8 MiB or 20 times its size, or holds more than 32 files.", "Ask its author to make it smaller."},
	{"POL-PACK-UNSIGNED", input, "The package is not signed.", "Get the signature, the file PACK.minisig, from its author, or accept the package with --unsigned."},
	{"POL-STORE", failure, "The folder of installed policies cannot be read or written.", "Choose a writable data folder with --data."},
}

// authorCodes are about writing a policy.
var authorCodes = []Meaning{
	{"POL-BENCH", gate, "A measured figure exceeds its bound of --max.", "Make the policy faster, or change the bound. Measure on an idle machine."},
	{"POL-BUILD", input, "The policy's build.sh failed, or did not write a module.", "Fix the errors of the compiler. `./build.sh` prints all of them."},
	{"POL-CASES", input, "The policy's test cases cannot be read, or there are none.", "Cases are files cases/NAME.yaml. docs/policies.md describes them."},
	{"POL-DIFFERS", policy, "Another engine, or a second run, gave another answer to the same input.", "Report it with the module. This must never happen."},
	{"POL-EXISTS", usage, "A file that would be written already exists.", "Choose another name, or remove it."},
	{"POL-FOLDER", input, "The folder is not the folder of a policy, or cannot be read or written.", "A policy's folder has a policy.json. `moot policy new NAME` creates one."},
	{"POL-HOST", input, "The policy needs a newer moot.", "Use a newer moot, or an older version of the policy."},
	{"POL-NAME", usage, "The name is not valid for a policy, or is the name of a built-in policy.", "Use lower-case letters, digits and single dashes, starting with a letter, 40 characters at most."},
	{"POL-TEST", gate, "A policy did not answer its test cases as recorded.", "Fix the policy, or record its answers with `moot policy test --update`."},
	{"POL-TOOLCHAIN", failure, "The compiler that the policy's build.sh needs is not installed.", "The message names the package to install."},
}

// replayCodes are about replaying policies.
var replayCodes = []Meaning{
	{"POL-MISSING", input, "The module that a room was run with is missing, so its decisions cannot be repeated.", "Use the data folder that the room was run in, or the release of moot with that built-in policy."},
	{"REPLAY-BASELINE", input, "There is no baseline with this name, as given in --policy baseline:NAME.", "The message lists the names."},
	{"REPLAY-CHECK", input, "The input of --check holds no recorded decisions.", "--check reads rooms of moot, or files that `moot transcript export` wrote with --level all."},
	{"REPLAY-CHECK-FAILED", gate, "A policy does not repeat a decision as the log has it.", "The message names the first difference. Compare the module's digest, its settings and the release of moot."},
	{"REPLAY-DIFF", usage, "Two reports have no policy, and so no figure, in common.", "Compare reports of the same policies. With -o html both are shown on one page."},
	{"REPLAY-GATE", usage, "A condition of --fail-if is not valid, or names a policy that is not replayed.", "Write [POLICY.]FIGURE OP NUMBER."},
	{"REPLAY-GATE-FAILED", gate, "A condition of --fail-if is true.", "Look at the figures of the report, or change the condition."},
	{"REPLAY-LONG", failure, "A replay takes longer than the server gives it.", "`moot replay ROOM --policy NAME` has no limit of time."},
	{"REPLAY-OUTCOME", input, "No transcript has the field of --outcome, the field has another form, or the file of --ratings cannot be read.", "The message lists the fields that there are, or says how a line has to be."},
	{"REPLAY-PAGE", input, "The file of --html cannot be written.", "Choose a writable file."},
	{"REPLAY-POINT", usage, "A transcript has no decision with this number.", "Decisions count from 1. In a room of moot the number is the number of the event."},
	{"REPLAY-REPORT", input, "A file is not a replay report of this release.", "Give a file that `moot replay ... -o json` wrote."},
	{"WASTE-GATE", usage, "A condition of --fail-if of `moot waste` is not valid.", "Write FIGURE OP NUMBER, such as waste > 20%. The message lists the figures."},
	{"WASTE-GATE-FAILED", gate, "A condition of --fail-if of `moot waste` is true.", "Look at the figures of the report, or change the condition."},
	{"WASTE-PAGE", input, "The file of --html of `moot waste` cannot be written.", "Choose a writable file."},
}
