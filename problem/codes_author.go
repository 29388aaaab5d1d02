package problem

// authorCodes are about writing a policy.
var authorCodes = []Meaning{
	{"POL-BENCH", gate, "A figure that was measured is over its bound of --max.", "Make the policy cheaper, or move the bound; measure on an idle machine."},
	{"POL-BUILD", input, "The policy's build.sh failed, or did not write a module.", "Mend what the compiler complains about; `./build.sh` shows all of it."},
	{"POL-CASES", input, "The policy's cases cannot be read, or there are none.", "Cases are files cases/NAME.yaml; docs/policies.md says what they hold."},
	{"POL-DIFFERS", policy, "The same input was answered otherwise on another engine, or the second time.", "Report it with the module: it must never happen."},
	{"POL-EXISTS", usage, "A file that would be written is there.", "Choose another name, or remove it."},
	{"POL-FOLDER", input, "The folder is not one of a policy, or cannot be read or written.", "A policy's folder has a policy.json; `moot policy new NAME` makes one."},
	{"POL-HOST", input, "The policy wants a newer moot.", "Use a newer moot, or an older version of the policy."},
	{"POL-NAME", usage, "The name cannot be that of a policy, or is taken by a built-in one.", "Use lower-case letters, digits and single dashes, a letter first, at most 40."},
	{"POL-TEST", gate, "A policy did not answer its cases as recorded.", "Mend the policy, or take its answers with `moot policy test --update`."},
	{"POL-TOOLCHAIN", failure, "The compiler that the policy's build.sh needs is not on this machine.", "The message names the package to install."},
}
