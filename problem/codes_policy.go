package problem

import "slices"

// policyCodes are about policies.
var policyCodes = slices.Concat(sandboxCodes, packCodes, authorCodes)

// sandboxCodes are about policies that are run: load.* when one is refused before it runs,
// run.* when it fails at a decision and the room pauses.
var sandboxCodes = []Meaning{
	{"POL-LEARN", input, "`moot policy learn` has nothing to learn from, or nowhere to write it.", "Give transcripts in which a team of three or more talked; --out names the file."},
	{"POL-DIGEST", input, "The embedded policies are not the ones that were built.", "Install moot again from a source you trust; after a change of the sources run `go generate ./policies`."},
	{"load.abi", input, "The module is not a room policy, or speaks another ABI.", "Export roompolicy_abi_1; rebuild with a kit of this release."},
	{"load.cache", failure, "The cache of compiled policies cannot be used.", "Let MOOT_CACHE name a folder that can be written."},
	{"load.closed", failure, "The sandbox is closed.", ""},
	{"load.compile", input, "The module could not be compiled within the limits.", "Make it smaller: fewer and shorter functions."},
	{"load.configure", input, "The policy refused its settings.", "`moot policy inspect NAME` prints what it takes."},
	{"load.digest", input, "The module has other bytes than the ones that were approved.", "Fetch it again, or approve the new digest."},
	{"load.features", input, "The module uses a part of WebAssembly that the sandbox does not take.", "Build it without threads, SIMD, exceptions and memory64."},
	{"load.imports", input, "The module asks for something that the sandbox does not give: files, the network, a clock.", "Build it with a kit, which needs nothing of these."},
	{"load.init", input, "The module failed while it was set up.", "Report it to the policy's author."},
	{"load.limits", input, "The module is over a structural limit, or its settings are.", "`moot policy check FILE` names the limit."},
	{"load.malformed", input, "The file is not a valid WebAssembly module.", "Build it again."},
	{"load.signature", input, "An export has another type than the ABI says.", "docs/policies.md lists the exports with their types."},
	{"load.untrusted", input, "Modules of others cannot be loaded here.", "Use a built-in policy; `moot policy ls` lists them."},
	{"run.audit", policy, "A reused instance and a new one answered differently.", "Report it to the policy's author, with the saved input."},
	{"run.bad_choice", policy, "The policy chose somebody who cannot be chosen now.", "The policy's author has to choose among the eligible agents."},
	{"run.bad_output", policy, "The policy's answer is not a decision.", "The policy's author has to answer as docs/policies.md says."},
	{"run.error", policy, "The policy failed.", "Report it to the policy's author, with the saved input."},
	{"run.hints", policy, "The policy gave hints without the grant.", "Set policy.hints: true in room.yaml if you want them."},
	{"run.memory", policy, "The policy could not hold its input.", "It needs more memory than its manifest asks for."},
	{"run.out_of_fuel", policy, "The policy took too long: it used up its fuel.", "`moot policy bench` shows what a decision costs."},
	{"run.refused", policy, "The policy says that it cannot decide.", "Its message says why."},
	{"run.stack_depth", policy, "The policy called too deep.", "Report it to the policy's author, with the saved input."},
	{"run.state_too_big", policy, "The state that the policy returned is over 64 KiB.", "The policy's author has to keep less."},
	{"run.trap", policy, "The policy's module failed.", "Report it to the policy's author, with the saved input."},
}
