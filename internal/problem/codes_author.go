package problem

// authorCodes are about writing a policy.
var authorCodes = []Meaning{
	{"POL-BUILD", input, "The policy's build.sh failed, or did not write a module.", "Mend what the compiler complains about; `./build.sh` shows all of it."},
	{"POL-CASES", input, "The policy's cases cannot be read, or there are none.", "Cases are files cases/NAME.yaml; docs/policies.md says what they hold."},
	{"POL-EXISTS", usage, "A file that would be written is there.", "Choose another name, or remove it."},
	{"POL-FOLDER", input, "The folder is not one of a policy, or cannot be read or written.", "A policy's folder has a policy.json; `moot policy new NAME` makes one."},
	{"POL-NAME", usage, "The name cannot be that of a policy, or is taken by a built-in one.", "Use lower-case letters, digits and single dashes, a letter first, at most 40."},
	{"POL-TOOLCHAIN", failure, "The compiler that the policy's build.sh needs is not on this machine.", "The message names the package to install."},
}
