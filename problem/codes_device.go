package problem

// deviceCodes are about this device's keys and the devices that it knows.
var deviceCodes = []Meaning{
	{"RELAY-FILE", failure, "A file with the device's keys, peers or invites is damaged or cannot be written.", "Restore it from a backup; without it the devices have to be paired again."},
	{"RELAY-FILE-MODE", denied, "A file with secrets can be read by other users of the machine, or is no regular file.", "chmod 600 FILE; make new keys when others use the machine."},
	{"RELAY-PASSPHRASE", denied, "The key file is sealed with a passphrase, and none or another one was given.", "Give the right one. Without it the device gets new keys and is paired again."},
	{"RELAY-PEER", input, "No paired device has this name or id.", "`moot peers ls` lists them; an invite pairs a new one."},
	{"RELAY-PEER-NAME", input, "A peer cannot have this name.", "Up to 64 printable characters that no other peer has, and no device id."},
}
